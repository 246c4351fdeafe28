"""Entities as the nodes of a graph, with an edge where a sentence mentions both.

    python examples/cluster_to_graph.py news.txt news.graphml

networkx, Gephi and yEd read the file. With `ner` or an entity linker in the pipeline,
types and knowledge-base ids are those of `doc.ents`.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import networkx as nx
import spacy
from spacy.tokens import Doc

from refreader_spacy import entities


def graph_of(doc: Doc) -> nx.Graph:
    """A node for each entity; the weight of an edge counts sentences."""
    graph = nx.Graph()
    sentence_of = {token.i: n for n, sent in enumerate(doc.sents) for token in sent}
    found = entities(doc)
    where = [{sentence_of[m.start] for m in entity.mentions} for entity in found]
    for entity in found:
        graph.add_node(
            entity.number,
            label=entity.main.text,
            type=entity.type,
            kb_id=entity.kb_id,
            mentions=len(entity),
        )
    for (one, here), (other, there) in combinations(zip(graph, where, strict=True), 2):
        if here & there:
            graph.add_edge(one, other, weight=len(here & there))
    return graph


def main(text: str, output: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("refreader")
    graph = graph_of(nlp(Path(text).read_text("utf8")))
    nx.write_graphml(graph, output)
    labels = graph.nodes(data="label")
    for a, b, weight in sorted(graph.edges(data="weight"), key=lambda edge: -edge[2]):
        print(f"{labels[a]} -- {labels[b]}: {weight}")


if __name__ == "__main__":
    main(*sys.argv[1:])
