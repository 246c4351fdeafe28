from pathlib import Path

import pytest

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.ontonotes import mark_ontonotes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files named by document, in folders of any depth."""
    path = tmp_path / "dev" / "doc.conllu"
    path.parent.mkdir()
    unknown = "\t".join("_" * 7)
    rows = [f"1\tAnn\t{unknown}\tEntity=(e1)", f"2\tsang\t{unknown}\t_"]
    path.write_text("\n".join(rows), "utf8")
    return tmp_path


def document(id: str, words: str) -> GoldDocument:
    made = GoldDocument(id, "gum", words=words.split())
    made.add_mention("1", GoldMention(0, 1))
    made.add_mention("2", GoldMention(0, 2))
    return made


def test_mentions_that_are_there_too_are_marked(folder):
    marked = mark_ontonotes(document("doc", "Ann sang"), folder)
    assert marked.entities["1"][0].in_ontonotes is True
    assert marked.entities["2"][0].in_ontonotes is False


def test_of_a_document_that_is_not_there_nothing_is_known(folder):
    marked = mark_ontonotes(document("other", "Ann sang"), folder)
    assert marked.entities["1"][0].in_ontonotes is None


@pytest.mark.parametrize(
    ("words", "found"), [("Ann ran", "'sang'"), ("Ann sang again", "''")]
)
def test_other_words_are_an_error(folder, words, found):
    with pytest.raises(ValueError, match=rf"R416.*'doc'.*found {found}"):
        mark_ontonotes(document("doc", words), folder)
