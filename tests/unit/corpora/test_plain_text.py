import json
import lzma

import pytest

from refreader_spacy.corpora.plain_text import has_people, pieces, texts_of

SENTENCE = "Ann Lee met Bo Ray, and she was glad of it at once. "
ALONE = "Rain fell on the town for the whole of that long day. "


def test_articles_records_and_compressed_files_are_read(tmp_path):
    articles = tmp_path / "articles.txt"
    articles.write_text("= Ann Lee =\nOne.\nTwo.\n\n= Bo Ray =\nThree.\n", "utf8")
    assert list(texts_of(articles)) == ["One.\nTwo.", "Three."]
    records = tmp_path / "records.jsonl.xz"
    lines = [{"text": "One."}, {"sents": [["Ann", "left", "."], ["Bo", "came", "."]]}]
    with lzma.open(records, "wt", encoding="utf8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    assert list(texts_of(records)) == ["One.", "Ann left. Bo came."]


@pytest.mark.parametrize("line", ['{"txt": "One."}', "{not json"])
def test_a_bad_record_is_named_with_its_line(tmp_path, line):
    path = tmp_path / "bad.jsonl"
    path.write_text(f'{{"text": "One."}}\n{line}\n', "utf8")
    with pytest.raises(ValueError, match=r"R451.*bad\.jsonl.*2"):
        list(texts_of(path))


def test_pieces_are_whole_sentences_of_about_a_length(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text(ALONE * 100, "utf8")
    found = pieces(path, n_words=500, seed=1, longest=110)
    assert all(piece.endswith("day.") for piece in found)
    assert {len(piece.split()) for piece in found} == {120}
    assert 500 <= sum(len(piece.split()) for piece in found) < 620
    assert pieces(path, 500, 1, 110) == found


def test_an_empty_source_is_an_error(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n", "utf8")
    with pytest.raises(ValueError, match="R450"):
        pieces(path, 100, 1)


def test_pieces_with_people_to_choose_from(tmp_path):
    assert has_people(SENTENCE)
    assert not has_people("Ann Lee met Bo Ray.")  # nobody is meant by a pronoun
    assert not has_people("Ann Lee said that she was glad.")  # no choice
    path = tmp_path / "mixed.txt"
    path.write_text(f"{SENTENCE * 6}\n\n{ALONE * 8}\n", "utf8")
    assert len(pieces(path, 10_000, 1)) == 2
    (found,) = pieces(path, 10_000, 1, people=True)
    assert found.startswith("Ann Lee")
