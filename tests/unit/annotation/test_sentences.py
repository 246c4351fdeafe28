"""Where sentences begin."""

import pytest
import spacy
from spacy.tokens import Doc

from refreader_spacy.annotation.sentences import sentence_starts

NLP = spacy.blank("en")


@pytest.mark.parametrize(
    "sentences",
    [
        [],
        ["Ann left."],
        ["Ann left. ", "She wept... ", "Why?! ", "No."],
        ["Ann left. ", '"It snores," she said. ', "Bo sat."],
        ['Ann said: "No." ', "Bo sat. ", "(He was ill.) ", "Ann ran."],
        ["A heading\n\n", "Ann left.  ", "Bo sat.\n", '"No."'],
    ],
)
def test_sentences_end_with_their_marks(sentences):
    doc = NLP("".join(sentences))
    starts = [doc[i].idx for i in sentence_starts(doc)]
    assert starts == [sum(map(len, sentences[:i])) for i in range(len(sentences))]


def test_annotated_sentences_count():
    doc = Doc(
        NLP.vocab, words=["a", ".", "b", "c"], sent_starts=[True, None, None, True]
    )
    assert sentence_starts(doc) == [0, 3]
