import pytest

from refreader_spacy.corpora.document import GoldDocument
from refreader_spacy.corpora.splits import Part, split


def ids(*names: str) -> dict[Part, list[str]]:
    found = split(GoldDocument(name, "test") for name in names)
    return {part: [document.id for document in some] for part, some in found.items()}


def test_eight_of_ten_documents_are_for_training():
    found = ids(*(f"text_{i}" for i in range(20)))
    assert found[Part.TEST] == ["text_0", "text_10"]
    assert found[Part.DEV] == ["text_1", "text_11"]
    assert len(found[Part.TRAIN]) == 16


def test_pieces_of_a_document_stay_together():
    found = ids("a", "a", "a", "b", "b_1", "b_2", "c", "a", "c_7")
    assert found[Part.TEST] == ["a"] * 4
    assert found[Part.DEV] == ["b", "b_1", "b_2"]
    assert found[Part.TRAIN] == ["c", "c_7"]


def test_pieces_of_too_few_documents_are_refused():
    with pytest.raises(ValueError, match=r"R359.*found 2"):
        ids(*["a"] * 20, *["b"] * 20)
