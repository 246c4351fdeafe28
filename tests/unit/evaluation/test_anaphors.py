from refreader_spacy.evaluation.anaphors import anaphor_scores
from refreader_spacy.evaluation.mentions import ScoredDocument, ScoredMention
from refreader_spacy.lang.en.anaphor_kinds import AnaphorKind

KINDS = {"n": AnaphorKind.NAME, "h": AnaphorKind.HE, "i": AnaphorKind.IT}


def clusters(text: str) -> list[list[ScoredMention]]:
    """Mentions by kind and place: `n0 h3` is a name at 0 and a `he` at 3."""
    return [
        [mention(KINDS[name[0]], int(name[1:])) for name in cluster.split()]
        for cluster in text.split("|")
        if cluster
    ]


def mention(kind: AnaphorKind, place: int) -> ScoredMention:
    return ScoredMention((place, place + 1), (place, 0), kind, label="")


def scores(key: str, response: str) -> dict[str, tuple[float, float]]:
    found = anaphor_scores([ScoredDocument(clusters(key), clusters(response))])
    return {
        kind.value: (score.recall, score.precision) for kind, score in found.items()
    }


def test_the_closest_antecedent_decides():
    """h2 was linked to a name of another entity, h4 to h2."""
    assert scores("n0 h2 h4|n1", "n1 h2 h4|n0") == {"he": (1 / 2, 1 / 2)}


def test_each_kind_is_counted_by_itself():
    found = scores("n0 h2 n3 i5|n6", "n0 h2 i5|n3 n6")
    assert found == {"he": (1, 1), "it": (1, 1), "name": (0, 0)}


def test_what_is_not_a_mention_of_the_key_costs_precision_only():
    assert scores("n0 h2", "n0 h2 h4 h6") == {"he": (1, 1 / 3)}
    assert scores("n0 h2", "n0 h1 h2") == {"he": (0, 0)}


def test_a_first_mention_is_no_anaphor():
    assert scores("n0|h2", "h2|n0") == {}


def test_mentions_come_in_text_order_and_once():
    assert scores("n0 h2 h4", "h4 n0 h2 h2") == {"he": (1, 1)}
