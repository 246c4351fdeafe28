import pytest

from refreader_spacy.lang.en.anaphor_kinds import AnaphorKind, anaphor_kinds


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("his", "he"),
        ("Hers", "she"),
        ("its", "it"),
        ("'em", "they"),
        ("I", "I"),
        ("us", "we"),
        ("YOU", "you"),
        ("those", "demonstrative"),
        ("herself", "reflexive"),
        ("whose", "relative"),
        ("Ann", "name"),
        ("NASA", "name"),
        ("firm", "noun"),
        ("2012", "noun"),
    ],
)
def test_the_head_word_decides(word, kind):
    assert anaphor_kinds(["saw", word], [1]) == [AnaphorKind(kind)]


def test_a_capital_at_the_start_of_a_sentence_may_mean_nothing():
    """Unless it is seen small elsewhere, the word is taken for a name."""
    words = ["Firms", "grew", ".", "Firms", "met", "other", "firms", ".", "Ann", "left"]
    kinds = anaphor_kinds(words, [0, 3, 6, 8])
    assert [kind.value for kind in kinds] == ["noun", "noun", "noun", "name"]
