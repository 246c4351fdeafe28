import pytest
from hypothesis import given
from invented_documents import documents

from refreader_spacy.corpora.document import (
    GoldDocument,
    GoldMention,
    Turn,
    pieces,
    without_longer,
    without_white_space,
)


@pytest.fixture
def document() -> GoldDocument:
    words = ["Ann", "told", "Bob", ".", "She", "left"]
    document = GoldDocument("a", "test", words=words)
    document.spaces = [True] * 6
    document.sentence_starts = [0, 4]
    document.add_mention("1", GoldMention(0, 1, 0, "person", True))
    document.add_mention("1", GoldMention(4, 5, 4, "person", False))
    document.add_mention("2", GoldMention(0, 3))
    document.add_turn(0, 5, "Cy")
    document.add_turn(5, 6, "Di")
    return document


def test_a_span_of_an_entity_is_there_once(document):
    document.add_mention("1", GoldMention(0, 1, None))
    assert [m.start for m in document.entities["1"]] == [0, 4]


def test_a_speaker_goes_on(document):
    document.add_turn(6, 7, "Di")
    document.add_turn(7, 8, "")
    document.add_turn(8, 9, "Di")
    assert document.turns == [Turn(0, 5, "Cy"), Turn(5, 7, "Di"), Turn(8, 9, "Di")]


@pytest.mark.parametrize(("n_tokens", "expected"), [(1, [4, 2]), (5, [4, 2]), (6, [6])])
def test_pieces_are_whole_sentences(document, n_tokens, expected):
    assert [len(piece.words) for piece in pieces(document, n_tokens)] == expected


def test_what_is_in_a_piece_counts_from_its_beginning(document):
    _, second = pieces(document, 4)
    assert second.words == ["She", "left"]
    assert second.sentence_starts == [0]
    assert second.entities == {"1": [GoldMention(0, 1, 0, "person", False)]}
    assert second.turns == [Turn(0, 1, "Cy"), Turn(1, 2, "Di")]


@given(documents())
def test_no_word_is_lost_in_pieces(document):
    for n_tokens in range(1, 7):
        found = list(pieces(document, n_tokens))
        assert [word for piece in found for word in piece.words] == document.words
    assert list(pieces(document, len(document.words))) == [document]


def test_long_mentions_are_left_out(document):
    assert set(without_longer(document, 2).entities) == {"1"}
    assert without_longer(document, 3) == document


def test_mentions_and_sentences_move_where_white_space_is_left_out():
    words = ["\n", "Ann", "\n", "Lee", "left", ".", " ", "She", "ran", "\n"]
    document = GoldDocument("a", "own", words=words, sentence_starts=[0, 6])
    document.spaces = [False] * len(words)
    document.add_mention("e1", GoldMention(0, 4, 3))
    document.add_mention("e1", GoldMention(7, 8, 7))
    document.add_mention("e2", GoldMention(9, 10, 9))
    document.add_turn(0, 6, "Bo")
    document.add_turn(9, 10, "Cy")
    found = without_white_space(document)
    assert found.words == ["Ann", "Lee", "left", ".", "She", "ran"]
    assert found.spaces == [True, False, False, True, False, True]
    assert list(found.sentences()) == [(0, 4), (4, 6)]
    assert found.entities == {"e1": [GoldMention(0, 2, 1), GoldMention(4, 5, 4)]}
    assert found.turns == [Turn(0, 4, "Bo")]
    assert without_white_space(found) is found


def test_no_sentence_begins_where_only_white_space_follows():
    words = ["He", "left", ".", "\n"]
    document = GoldDocument("a", "own", words=words, sentence_starts=[0, 3])
    assert without_white_space(document).sentence_starts == [0]
