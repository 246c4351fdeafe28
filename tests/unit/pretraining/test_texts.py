"""Articles from plain text, whatever the file."""

import lzma
from pathlib import Path

import pytest
import srsly
from spacy.tokens import DocBin

from refreader_spacy.pretraining.texts import read_articles

HEADED = "= Ann =\nAnn sang.\nShe won.\n\n= Bo Lee =\n\nBo ran.\n"
WRAPPED = "\nAnn sang.\nShe won.\n\n\nBo ran.\n"
ARTICLES = [["Ann", "sang", ".", "She", "won", "."], ["Bo", "ran", "."]]


def words(path: Path, nlp) -> list[list[str]]:
    articles = read_articles(path, nlp)
    return [[token.text for doc in docs for token in doc] for docs in articles]


@pytest.mark.parametrize("text", [HEADED, WRAPPED, HEADED.strip(), WRAPPED.strip()])
@pytest.mark.parametrize("suffix", [".txt", ".txt.xz"])
def test_articles_begin_at_a_header_or_end_at_a_blank_line(text, suffix, tmp_path, nlp):
    path = tmp_path / f"text{suffix}"
    opened = lzma.open if suffix == ".txt.xz" else open
    with opened(path, "wt", encoding="utf8") as file:
        file.write(text)
    assert words(path, nlp) == ARTICLES


def test_a_record_is_an_article(tmp_path, nlp):
    path = tmp_path / "text.jsonl"
    texts = ["Ann sang. She won.", "Bo ran."]
    srsly.write_jsonl(path, [{"text": text, "id": 1} for text in texts])
    assert words(path, nlp) == ARTICLES


def test_a_doc_is_an_article_with_its_own_tokens(tmp_path, nlp):
    docs = [nlp("Ann sang. She won."), nlp("Bo ran.")]
    with docs[0].retokenize() as retokenizer:
        retokenizer.merge(docs[0][0:2])
    DocBin(docs=docs).to_disk(tmp_path / "text.spacy")
    first, second = words(tmp_path / "text.spacy", nlp)
    assert first == ["Ann sang", *ARTICLES[0][2:]]
    assert second == ARTICLES[1]


def test_a_mark_at_the_beginning_is_no_text(tmp_path, nlp):
    (tmp_path / "text.txt").write_text("\ufeffBo ran.", "utf8")
    assert words(tmp_path / "text.txt", nlp) == ARTICLES[1:]


def test_an_empty_file_has_no_articles(tmp_path, nlp):
    (tmp_path / "text.txt").touch()
    assert words(tmp_path / "text.txt", nlp) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("text.pdf", b"", r"R320.*\.txt\.xz.*text\.pdf"),
        ("text.txt", b"caf\xe9", r"R322.*text\.txt.*UTF-8"),
        ("text.txt.xz", b"no archive", r"R322.*text\.txt\.xz.*complete"),
        ("cut.txt.xz", lzma.compress(b"Ann sang. " * 99)[:-20], r"R322.*complete"),
        ("text.jsonl", b'{"text": "Ann"}\n{"body": 1}\n', r"R323.*line 2.*body"),
        ("text.jsonl", b'{"text": 3}\n', r"R323.*line 1.*'text'"),
        ("text.jsonl", b"[1]\n", r"R323.*line 1"),
        ("text.jsonl", b"Ann\n", r"R323.*line 1.*Ann"),
    ],
)
def test_what_is_no_text_is_refused(name, content, message, tmp_path, nlp):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        words(tmp_path / name, nlp)


def test_a_missing_text_is_refused(tmp_path, nlp):
    with pytest.raises(ValueError, match=r"R321.*none\.txt.*raw_text"):
        words(tmp_path / "none.txt", nlp)
