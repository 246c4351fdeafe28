"""From gates to mentions and entities: the rule, and that pieces are like a whole."""

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from spacy.tokens import Doc

from refreader_spacy.batching import joined
from refreader_spacy.paper.decisions import LONGEST, Decisions
from refreader_spacy.protocol import Part, Reading

VOCAB = spacy.blank("en").vocab


def gates_of(*tokens, n_cells=2) -> Reading:
    """tokens: Of each, a dict of what it does to cells: {"+0": 0.9} or {"=1": 0.8}."""
    gates = np.zeros((3, len(tokens), n_cells), np.float32)
    for i, token in enumerate(tokens):
        for (sign, cell), amount in token.items():
            gates["+=".index(sign), i, int(cell)] = amount
    return Reading(*gates)


def decide(text: str, *tokens) -> tuple[list[str], Part]:
    """Mentions as words with the number of their entity."""
    words = text.split(" ")
    gates = gates_of(*tokens)
    part = Decisions(2).read(Doc(VOCAB, words=words), gates, last=True)
    m = part.mentions
    spans = zip(m.start.tolist(), part.ends.tolist(), m.entity.tolist(), strict=True)
    return [f"{' '.join(words[s:e])} {entity}" for s, e, entity in spans], part


def test_a_mention_means_whom_it_updates():
    found, part = decide(
        "Ann met Bo and she ran", {"=0": 0.9}, {}, {"=1": 0.8}, {}, {"+0": 0.7}, {}
    )
    assert found == ["Ann 0", "Bo 1", "she 0"]
    assert part.mentions.is_new.tolist() == [True, True, False]
    np.testing.assert_allclose(part.mentions.probability, [0.9, 0.8, 0.9 * 0.7])
    assert part.mentions.head.tolist() == [0, 2, 4]
    assert part.held.tolist() == [0, 1]


def test_a_link_probability_is_the_papers_psi():
    """With overwrites in between, however small."""
    tokens = [{"=0": 0.9}, {"=0": 0.05}, {}, {"=0": 0.2, "+0": 0.5}]
    found, part = decide("Ann said that she", *tokens)
    assert found == ["Ann 0", "she 0"]
    psi = gates_of(*tokens).link_probability(0, 3)
    assert part.mentions.probability[1] == pytest.approx(psi)


def test_a_mention_that_rather_overwrites_is_somebody_new():
    found, part = decide("Ann met Bo", {"=0": 0.9}, {}, {"+0": 0.4, "=1": 0.5})
    assert found == ["Ann 0", "Bo 1"]
    assert part.mentions.is_new.all()


def test_an_entity_in_two_cells_is_linked_by_both():
    tokens = [{"=0": 0.5, "=1": 0.5}, {}, {"+0": 0.3, "+1": 0.3, "=0": 0.2}]
    found, part = decide("Ann said she", *tokens)
    assert found == ["Ann 0", "she 0"]
    psi = gates_of(*tokens).link_probability(0, 2)
    assert part.mentions.probability[1] == pytest.approx(psi)


def test_whoever_wrote_the_most_holds_the_cell():
    """A weak overwrite is somebody new, and takes nothing from whom it met."""
    found, part = decide(
        "Ann met Bo and she", {"=0": 0.9, "=1": 0.1}, {}, {"=0": 0.2}, {}, {"+0": 0.8}
    )
    assert found == ["Ann 0", "Bo 1", "she 0"]
    assert part.held.tolist() == [0]


def test_whom_the_memory_has_forgotten_nobody_means():
    found, part = decide(
        "Ann Bo Cy they", {"=0": 0.9}, {"=1": 0.9}, {"=0": 0.95}, {"+0": 0.9}
    )
    assert found == ["Ann Bo Cy 0", "they 0"]
    found, part = decide("ann bo cy they", *[{"=0": 0.9}, {"=1": 0.9}] * 2)
    assert found == ["ann 0", "bo 1", "cy 2", "they 3"]
    assert part.held.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Ann Lee ran", ["Ann Lee 0"]),  # the second word writes too little
        ("Ann she ran", ["Ann 0"]),
        ("Ann , Lee", ["Ann 0"]),
        ("Ann \n Lee", ["Ann 0"]),
        (", Ann", []),
    ],
)
def test_a_name_goes_on_with_capitals(text, mentions):
    assert decide(text, {"=0": 0.9}, {"=0": 0.05}, {})[0] == mentions


def test_words_that_one_cell_takes_are_one_mention():
    found, part = decide("the ship sank", {"=0": 0.3}, {"+0": 0.6, "=0": 0.3}, {})
    assert found == ["the ship 0"]
    assert part.mentions.head.tolist() == [1]
    assert part.mentions.start.tolist() == [0]
    found, _ = decide("her ship sank", {"=0": 0.3}, {"=1": 0.6}, {})
    assert found == ["her 0", "ship 1"]


def test_a_names_best_word_makes_the_link():
    found, part = decide(
        "Ann Lee met Ms Lee", {"=0": 0.9}, {"+0": 0.9}, {}, {"+0": 0.2}, {"+0": 0.9}
    )
    assert found == ["Ann Lee 0", "Ms Lee 0"]
    assert part.mentions.probability[1] == pytest.approx(0.9 * 0.9)


def test_punctuation_and_white_space_are_never_mentions():
    found, _ = decide(
        "Ann . \n she", {"=0": 0.9}, {"+0": 0.9}, {"+0": 0.9}, {"+0": 0.9}
    )
    assert found == ["Ann 0", "she 0"]


def test_mentions_are_of_bounded_length():
    words = " ".join(["ANN"] * (2 * LONGEST + 1))
    found, _ = decide(words, *[{"=0": 0.5}] * (2 * LONGEST + 1))
    assert [len(mention.split()) - 1 for mention in found] == [LONGEST, LONGEST, 1]


WORDS = st.lists(st.sampled_from(["Ann", "Lee", "she", ",", "ship"]), max_size=14)


@settings(max_examples=100)
@given(WORDS, st.data())
def test_pieces_decide_like_a_whole(words, data):
    shape = (2, len(words), 3)
    amounts = st.sampled_from([0.0, 0.01, 0.05, 0.25, 0.5])
    update, overwrite = data.draw(arrays(np.float32, shape, elements=amounts)) / 2
    gates = Reading(update, overwrite, update)
    doc = Doc(VOCAB, words=words)
    whole = Decisions(3).read(doc, gates, last=True)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(words)), max_size=4)))
    decisions = Decisions(3)
    parts = []
    for start, stop in zip([0, *cuts], [*cuts, len(words)], strict=True):
        some = Reading(update[start:stop], overwrite[start:stop], update[start:stop])
        parts.append(decisions.read(doc[start:stop], some, last=False))
    nothing = Reading(update[:0], overwrite[:0], update[:0])
    parts.append(decisions.read(Doc(VOCAB), nothing, last=True))
    pieces = joined(parts)
    for name, wanted in vars(whole.mentions).items():
        np.testing.assert_array_equal(getattr(pieces.mentions, name), wanted)
    for name in ("closed", "ends", "held"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))


@settings(max_examples=60)
@given(WORDS, st.data())
def test_decisions_are_numbered_in_order(words, data):
    shape = (2, len(words), 3)
    gates = data.draw(arrays(np.float32, shape, elements=st.floats(0, 0.25, width=32)))
    part = Decisions(3).read(
        Doc(VOCAB, words=words), Reading(*gates, gates[0]), last=True
    )
    m = part.mentions
    assert (np.diff(m.head) > 0).all()
    assert (m.start <= m.head).all()
    assert m.entity[m.is_new].tolist() == list(range(m.is_new.sum()))
    known = {*()}
    for entity, is_new in zip(m.entity.tolist(), m.is_new.tolist(), strict=True):
        assert is_new != (entity in known)
        known.add(entity)
    assert ((m.probability >= 0) & (m.probability <= 1)).all()
    assert {*part.held.tolist()} <= known
