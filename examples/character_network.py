"""Who is in a novel, and who is central: characters, then betweenness in their network.

    python examples/character_network.py book.txt

`refreader characters` writes the same characters as CSV, GEXF and a picture.
"""

from __future__ import annotations

import sys
from pathlib import Path

import networkx as nx
import spacy
from spacy.tokens import Doc

from refreader_spacy.annotation.characters import characters, together


def network(doc: Doc) -> nx.Graph:
    """Characters, with an edge for those who are mentioned near each other."""
    cast = characters(doc)
    graph = nx.Graph()
    for character in cast:
        graph.add_node(character.number, name=character.name, n=character.n_mentions)
    graph.add_weighted_edges_from(together(cast))
    return graph


def main(path: str) -> None:
    nlp = spacy.blank("en")
    nlp.max_length = 10**8
    nlp.add_pipe("refreader")
    graph = network(nlp(Path(path).read_text("utf8")))
    central = nx.betweenness_centrality(graph)
    for number, data in sorted(graph.nodes(data=True), key=lambda node: -node[1]["n"]):
        print(f"{data['name']}\t{data['n']}\t{central[number]:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
