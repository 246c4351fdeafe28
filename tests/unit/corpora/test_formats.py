import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refreader_spacy.corpora.document import GoldDocument, GoldMention
from refreader_spacy.corpora.formats import (
    Format,
    format_of,
    output_format,
    read_documents,
    write_documents,
)


@pytest.fixture
def document() -> GoldDocument:
    document = GoldDocument("doc", "test", words=["Ann", "said", "she", "left"])
    document.spaces, document.sentence_starts = [True] * 4, [0]
    document.add_mention("1", GoldMention(0, 1, 0))
    document.add_mention("1", GoldMention(2, 3, 2))
    return document


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.conllu", "", Format.COREFUD),
        ("a.CONLLU", "", Format.COREFUD),
        ("a.conll", "", Format.CONLL2012),
        ("a.v4_gold_conll", "", Format.CONLL2012),
        ("a.spacy", "", Format.SPACY),
        ("a.jsonl", '{"text": "Ann"}\n', Format.CRAFT),
        ("a.jsonl", '{"sentences": [["Ann"]]}\n', Format.JSONLINES),
        ("a.jsonlines", "{broken\n", Format.JSONLINES),
        ("a.jsonlines", "3\n", Format.JSONLINES),
        ("a.jsonl", "", Format.JSONLINES),
        ("a.jsonl", '{"text": "Ann", "tokens": []}\n', Format.PRODIGY),
        ("a.tsv", "", Format.GAP),
        ("a.marked.txt", "", Format.MARKED),
    ],
)
def test_a_files_name_and_first_line_tell_its_format(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    assert format_of(path) is expected


def test_a_name_that_tells_nothing_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"R412.*a\.txt.*--format"):
        format_of(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["a.txt", "a.conllu.xz", "a"])
def test_what_cannot_be_written_is_said(name):
    with pytest.raises(ValueError, match=r"R227.*\.conllu.*"):
        output_format(Path(name))


@pytest.mark.parametrize(
    "ending", ["spacy", "conllu", "conll", "jsonl", "prodigy.jsonl"]
)
def test_every_format_is_written_and_read(nlp, tmp_path, document, ending):
    path = tmp_path / f"a.{ending}"
    counts = write_documents([document, document], path, nlp.vocab)
    assert (counts.documents, counts.written) == (2, 4)
    for again in read_documents(path, nlp, scheme="test"):
        assert again.words == document.words
        places = [[m[:2] for m in mentions] for mentions in again.entities.values()]
        assert places == [[(0, 1), (2, 3)]]


def test_compressed_files_are_read(nlp, tmp_path, document):
    path = tmp_path / "a.conllu"
    write_documents([document], path, nlp.vocab)
    packed = tmp_path / "a.conllu.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    assert list(read_documents(packed, nlp)) == list(read_documents(path, nlp))
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"R400.*a\.conllu\.xz"):
        list(read_documents(packed, nlp))


def test_nothing_to_write_leaves_no_file(nlp, tmp_path):
    for name in ("a.spacy", "a.conllu"):
        with pytest.raises(ValueError, match="R417"):
            write_documents([], tmp_path / name, nlp.vocab)
    assert list(tmp_path.iterdir()) == []


def test_another_file_than_a_docbin_is_said(nlp, tmp_path):
    path = tmp_path / "a.spacy"
    path.write_bytes(b"no docs")
    with pytest.raises(ValueError, match=r"R413.*a\.spacy"):
        read_documents(path, nlp)


@settings(
    max_examples=200,
)
@given(st.sampled_from(["conllu", "conll", "jsonl", "spacy"]), st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_by_name(nlp, tmp_path, ending, data):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(data)
    said = ""
    try:
        list(read_documents(path, nlp))
    except ValueError as error:
        said = str(error)
    assert not said or (said.startswith(("[R3", "[R4")) and path.name in said)
