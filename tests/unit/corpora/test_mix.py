import pytest
import spacy
from spacy.tokens import Doc, DocBin

from refreader_spacy.corpora.mix import create_mix_v1

NLP = spacy.blank("en")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b").mkdir()
    for name, word in (("a", "one"), ("b/x", "two"), ("b/y", "three"), ("c", "four")):
        DocBin(docs=[Doc(NLP.vocab, words=[word])]).to_disk(tmp_path / f"{name}.spacy")
    return tmp_path


def words(path, times=None):
    return [example.text.strip() for example in create_mix_v1(path, times)(NLP)]


def test_a_part_is_read_as_often_as_asked(folder):
    assert words(folder) == ["one", "two", "three", "four"]
    found = words(folder, {"a": 2, "b": 3, "c": 0})
    assert found == ["one"] * 2 + ["two", "three"] * 3
    assert words(folder / "a.spacy") == ["one"]


def test_nothing_to_read_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="R008"):
        words(tmp_path / "none")


def test_a_part_is_read_from_disk_once(folder):
    read = create_mix_v1(folder, {"b": 2})
    first = list(read(NLP))
    for part in folder.rglob("*.spacy"):
        part.write_bytes(b"")
    again = list(read(NLP))
    assert [e.reference for e in again] == [e.reference for e in first]
