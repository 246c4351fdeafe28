"""Texts labelled by a teacher: its clusters as gold, and how sure it was beside them.

Shapes: T tokens, K mentions, M cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import minibatch

from refreader_spacy.batching import read_docs
from refreader_spacy.corpora.gap import GAP_KEYS
from refreader_spacy.corpora.span_groups import ANNOTATION, SINGLE
from refreader_spacy.decoding.clusters import Cluster, Mention, decode_clusters
from refreader_spacy.protocol import Part, Reader, ReaderModel, reader_of
from refreader_spacy.reader.soft_labels import write_soft_labels

FAINT = 0.01  # probabilities below are left out
BATCH = 16  # Docs that the teacher reads at once


def labelled_docs(
    docs: Iterable[Doc], model: ReaderModel, prefix: str = "coref_clusters"
) -> Iterator[Doc]:
    """The same Docs with the clusters that a teacher's model finds, singletons too.

    A GAP row keeps what GAP says of its pronoun.
    """
    reader = reader_of(model)
    for batch in minibatch(docs, BATCH):  # type: ignore[no-untyped-call]
        for doc, part in zip(batch, read_docs(model, batch, gates=True), strict=True):
            label(doc, part, reader, prefix)
            yield doc


def label(doc: Doc, part: Part, reader: Reader, prefix: str) -> None:
    """Put a teacher's clusters on a Doc, as gold."""
    clusters = list(decode_clusters(part, 0.0, labels=reader.labels))
    is_gap = all(key in doc.spans for key in GAP_KEYS)
    if is_gap:
        clusters = with_gap(doc, clusters)
    for key in [key for key in doc.spans if key.startswith(f"{prefix}_")]:
        del doc.spans[key]
    place = {int(head): i for i, head in enumerate(part.mentions.head)}
    order: list[int] = []  # mentions as they come in the groups
    schemes = part.mentions.schemes
    several = [cluster.mentions for cluster in clusters if len(cluster.mentions) > 1]
    single = [
        m for cluster in clusters if len(cluster.mentions) == 1 for m in cluster[0]
    ]
    for name, mentions in (*enumerate(several, start=1), (SINGLE, single)):
        known = [place.get(mention.head, -1) for mention in mentions]
        attrs = {"heads": [mention.head for mention in mentions]}
        if "ontonotes" in reader.schemes and mentions is not single and -1 not in known:
            kept = schemes[np.array(known), reader.schemes.index("ontonotes")] >= 0.5
            attrs["ontonotes"] = kept.astype(int).tolist()
        spans = [Span(doc, m.start, m.end, label=m.label) for m in mentions]
        key = f"{prefix}_{name}"
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)
        order += [i for i in known if i >= 0]
    whole = [Span(doc, 0, len(doc), label=reader.schemes[0])] if len(doc) else []
    doc.spans[ANNOTATION] = SpanGroup(doc, name=ANNOTATION, spans=whole)
    if not is_gap:  # its clusters are not the teacher's any more
        soft = without(soft_links(part), {*order})
        rank = {mention: i for i, mention in enumerate(order)}
        links = [[(rank[j], p) for j, p in soft[i] if j in rank] for i in order]
        sure = schemes[np.array(order, np.int64), 0].tolist()
        write_soft_labels(doc, sure, links)


def soft_links(part: Part) -> list[list[tuple[int, float]]]:
    """For each mention, how likely it is of each cell, by the cell's latest mention."""
    gates, mentions = part.gates, part.mentions
    if gates is None or not len(mentions):
        return []
    update, overwrite = gates.update[mentions.head], gates.overwrite[mentions.head]
    mass = np.maximum(update.sum(axis=1) + overwrite.sum(axis=1), 1e-6)  # (K,)
    links = update / mass[:, None]  # (K, M)
    cells = np.where(mentions.is_new, overwrite.argmax(axis=1), update.argmax(axis=1))
    latest = np.full(gates.n_cells, -1)
    found = []
    for i, cell in enumerate(cells.tolist()):
        likely = np.flatnonzero((links[i] >= FAINT) & (latest >= 0))
        found.append([(int(latest[c]), float(links[i, c])) for c in likely])
        latest[cell] = i
    return found


def without(
    links: Sequence[list[tuple[int, float]]], kept: set[int]
) -> list[list[tuple[int, float]]]:
    """The same links where only some mentions count.

    A link to one that doesn't, such as the beginning of a name, is one to what that was
    linked to.
    """
    found: list[list[tuple[int, float]]] = []
    for row in links:
        shares: dict[int, float] = {}
        for j, p in row:
            for k, q in [(j, 1.0)] if j in kept else found[j]:
                shares[k] = shares.get(k, 0.0) + p * q
        found.append(list(shares.items()))
    return found


def with_gap(doc: Doc, clusters: Sequence[Cluster]) -> list[Cluster]:
    """A teacher's clusters, corrected where GAP's row knows better.

    The pronoun goes to the cluster of the name that it means, and out of the cluster of
    a name that it doesn't mean.
    """
    pronoun, *names = (doc.spans[key][0] for key in GAP_KEYS)
    groups = [list(cluster.mentions) for cluster in clusters]

    def find(span: Span) -> int:
        """The cluster of a mention that ends in the span, which is made if need be."""
        inside = range(span.start, span.end)
        found = [i for i, g in enumerate(groups) for m in g if m.head in inside]
        if found:
            return found[-1]
        groups.append([Mention(span.start, span.end, span.end - 1, len(groups))])
        return len(groups) - 1

    own = find(pronoun)
    heads = range(pronoun.start, pronoun.end)
    mention = next(m for m in groups[own] if m.head in heads)
    for key, name in zip(GAP_KEYS[1:], names, strict=True):
        cluster = find(name)
        if doc.spans[key].attrs["coref"] and cluster != own:
            groups[own].remove(mention)
            groups[cluster].append(mention)
            own = cluster
        elif not doc.spans[key].attrs["coref"] and cluster == own:
            groups[own].remove(mention)
            groups.append([mention])
            own = len(groups) - 1
    return [
        Cluster(sorted(set(group), key=lambda m: m.head), [])
        for group in groups
        if group
    ]
