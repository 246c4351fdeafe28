import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from refreader_spacy.lang.en.lexemes import Column
from refreader_spacy.lang.en.words import Gender
from refreader_spacy.reader import tokens as tokens_module
from refreader_spacy.reader.annotated import speaker_hashes
from refreader_spacy.reader.tokens import (
    NO_SPACE,
    QUOTATION,
    SENTENCE_START,
    SPEAKER,
    TextState,
    token_rows,
)

NLP = spacy.blank("en")
PIECES = st.sampled_from(
    ["Ann", " ", "met", ". ", "\n", '"', "he", "“", "”", "Mr. ", "?", ")", " 's", "3"]
)


def column(text, which):
    tokens = token_rows(NLP.make_doc(text), TextState())
    return tokens.rows[:, which].tolist()


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Ann left. Bo came.", [1, 0, 0, 1, 0, 0]),
        ('"Why?" he asked.', [0, 1, 0, 0, 0, 0, 0]),
        ('He said "No." She left.', [1, 0, 0, 0, 0, 0, 1, 0, 0]),
        ("a title\nthe text", [1, 0, 1, 0]),
        ("Mr. Lee left", [1, 0, 0]),
    ],
)
def test_sentences_begin_after_full_stops_and_lines(text, starts):
    assert column(text, SENTENCE_START) == starts


def test_quotations_are_numbered():
    assert column('"A" b "c"', QUOTATION) == [0, 1, 0, 0, 0, 2, 0]
    assert column("“a ” b", QUOTATION) == [0, 1, 0, 0]


def test_a_quotation_whose_end_is_missing_ends():
    numbers = column('"' + " word" * 300, QUOTATION)
    assert numbers[1] == 1
    assert numbers[-1] == 0


def test_white_space_is_not_read():
    doc = NLP.make_doc("Ann \n\n met  Bo")
    tokens = token_rows(doc, TextState())
    assert [doc[i].text for i in tokens.places] == ["Ann", "met", "Bo"]
    assert tokens.rows[:, NO_SPACE].tolist() == [0, 0, 0]
    assert column("can't", NO_SPACE) == [0, 1]


def test_another_speaker_begins_a_sentence():
    doc = Doc(NLP.vocab, words=["yes", "and", "no"])
    doc.spans["speakers"] = [Span(doc, 0, 1, label="A"), Span(doc, 1, 3, label="B")]
    rows = token_rows(doc, TextState(), speaker_hashes(doc)).rows
    assert rows[:, SENTENCE_START].tolist() == [1, 1, 0]
    assert len({*rows[:, SPEAKER].tolist()}) == 2
    assert speaker_hashes(doc[1:]) == speaker_hashes(doc)[1:]


@given(
    st.lists(PIECES, max_size=30).map("".join), st.lists(st.integers(0, 30), max_size=4)
)
def test_tokens_in_parts_have_the_rows_of_the_whole(text, cuts):
    doc = NLP.make_doc(text)
    whole = token_rows(doc, TextState())
    stops = sorted(c % (len(doc) + 1) for c in cuts)
    state, rows, places, first = TextState(), [], [], 0
    for stop in [*stops, len(doc)]:
        part = token_rows(doc[first:stop], state)
        rows.append(part.rows)
        places.append(part.places + first)
        first = stop
    np.testing.assert_array_equal(np.concatenate(rows), whole.rows)
    np.testing.assert_array_equal(np.concatenate(places), whole.places)


@given(st.lists(PIECES, max_size=30), st.integers(0, 30))
def test_later_tokens_change_no_row(words, stop):
    words = [word.strip() or "\n" for word in words]
    doc = Doc(NLP.vocab, words=words)
    whole, prefix = (token_rows(d, TextState()).rows for d in (doc, doc[:stop]))
    np.testing.assert_array_equal(prefix, whole[: len(prefix)])


def test_gender_and_number_are_read_off_words():
    assert column("She he it they John Mary dogs", Column.GENDER) == [
        2,
        1,
        3,
        0,
        1,
        2,
        0,
    ]
    assert column("he they dog dogs bus these", Column.NUMBER) == [1, 2, 1, 2, 1, 2]


def test_named_entities_that_are_nobody_are_neuter():
    doc = NLP.make_doc("Mary Inc. sued Ann.")
    doc.ents = [Span(doc, 0, 2, label="ORG"), Span(doc, 3, 4, label="PERSON")]
    genders = token_rows(doc, TextState()).rows[:, Column.GENDER].tolist()
    assert genders[:2] == [Gender.NEUTER, Gender.NEUTER]
    assert genders[3] == Gender.FEMININE
    part = token_rows(doc[1:4], TextState()).rows[:, Column.GENDER].tolist()
    assert part == genders[1:4]


def test_labels_of_speakers_are_not_read():
    doc = NLP.make_doc("Hi.\nAnn: I left.")
    start = next(token.i for token in doc if token.text == "Ann")
    doc.spans["speaker_labels"] = [doc[start : start + 2]]
    tokens = token_rows(doc, TextState())
    assert [doc[i].text for i in tokens.places] == ["Hi", ".", "I", "left", "."]
    assert tokens.rows[:, SENTENCE_START].tolist() == [1, 0, 1, 0, 0]


def test_known_words_may_be_forgotten_by_another_thread_meanwhile(monkeypatch):
    word_row = tokens_module.word_row

    def forgetful(word):
        tokens_module._known.clear()
        return word_row(word)

    doc = NLP.make_doc("Ann met Bo, and Zoetrope left Ann.")
    expected = token_rows(doc, TextState()).rows
    del tokens_module._known[doc[4].orth]
    monkeypatch.setattr(tokens_module, "word_row", forgetful)
    np.testing.assert_array_equal(token_rows(doc, TextState()).rows, expected)
