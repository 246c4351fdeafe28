"""A network of characters as GEXF, which Gephi and networkx read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from refreader_spacy.annotation.characters import Character, Together

NAMESPACE = "http://www.gexf.net/1.2draft"
COLUMNS = {
    "mentions": "integer",
    "names": "integer",
    "called": "string",
    "pronoun": "string",
    "type": "string",
    "first": "integer",
    "last": "integer",
}


def gexf(characters: Sequence[Character], pairs: Iterable[Together]) -> str:
    """Characters as nodes, and pairs as undirected edges with counts as weights."""
    root = Element("gexf", xmlns=NAMESPACE, version="1.2")
    graph = SubElement(root, "graph", defaultedgetype="undirected", mode="static")
    attributes = SubElement(graph, "attributes", {"class": "node", "mode": "static"})
    for title, kind in COLUMNS.items():
        SubElement(attributes, "attribute", id=title, title=title, type=kind)
    nodes = SubElement(graph, "nodes")
    for who in characters:
        node = SubElement(nodes, "node", id=str(who.number), label=legal(who.name))
        values = SubElement(node, "attvalues")
        row = (
            *(who.n_mentions, who.n_names, "; ".join(who.called)),
            *(who.pronoun, who.type, who.first, who.last),
        )
        for title, value in zip(COLUMNS, row, strict=True):
            SubElement(values, "attvalue", {"for": title, "value": legal(str(value))})
    edges = SubElement(graph, "edges")
    for number, (one, other, count) in enumerate(pairs):
        ends = {"source": str(one), "target": str(other)}
        SubElement(edges, "edge", {"id": str(number), **ends, "weight": str(count)})
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def legal(text: str) -> str:
    """Text without the characters that XML doesn't allow."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
