"""Links by kind of anaphor, and what is said of mentions beside their clusters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import pairwise

from refreader_spacy.evaluation.cluster_metrics import Agreement, Tally
from refreader_spacy.evaluation.mentions import ScoredCluster, ScoredDocument
from refreader_spacy.lang.en.anaphor_kinds import AnaphorKind


def anaphor_scores(
    documents: Iterable[ScoredDocument],
) -> dict[AnaphorKind, Agreement]:
    """Recall and precision of links, by the kind of the later mention.

    An anaphor is any mention but the first of its cluster, in the order of heads. Its
    link to the closest antecedent in the response is right if the key has both in one
    cluster. Recall counts the anaphors of the key, precision those of the response;
    mentions are compared by their heads.
    """
    tallies: dict[AnaphorKind, Tally] = defaultdict(Tally)
    for document in documents:
        entity_of: dict[Hashable, tuple[int, AnaphorKind]] = {}
        for number, cluster in enumerate(document.key):
            mentions = _by_head(cluster)
            for mention in mentions:
                entity_of.setdefault(mention.head, (number, mention.kind))
            for anaphor in mentions[1:]:
                tallies[anaphor.kind] += Tally(key=1)
        for cluster in document.response:
            for antecedent, anaphor in pairwise(_by_head(cluster)):
                tallies[anaphor.kind] += Tally(response=1)
                first, second = map(entity_of.get, (antecedent.head, anaphor.head))
                if first and second and first[0] == second[0]:
                    tallies[second[1]] += Tally(recalled=1)
                    tallies[anaphor.kind] += Tally(precise=1)
    return {kind: tallies[kind].agreement for kind in AnaphorKind if kind in tallies}


def type_accuracy(documents: Iterable[ScoredDocument]) -> float | None:
    """Of the mentions found by their heads, how many have the type of the key.

    RETURNS (float | None): None if the key or the response has no types at all.
    """
    n_right = n_found = 0
    has_types = False
    for document in documents:
        given = {m.head: m.label for c in document.response for m in c}
        has_types = has_types or any(given.values())
        for cluster in document.key:
            for mention in cluster:
                if mention.label and mention.head in given:
                    n_found += 1
                    n_right += given[mention.head] == mention.label
    return n_right / n_found if n_found and has_types else None


def _by_head(cluster: ScoredCluster) -> ScoredCluster:
    """In text order, each head once."""
    return [*{m.head: m for m in sorted(cluster, key=lambda m: m.head)}.values()]
