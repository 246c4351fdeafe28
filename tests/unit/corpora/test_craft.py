import json

import pytest

from refreader_spacy.corpora.craft import read_craft
from refreader_spacy.corpora.document import GoldMention

TEXT = "The gene (Daz1) binds. It works.\n\nMice have it."
ROW = {
    "id": "1",
    "text": TEXT,
    "clusters": [[[[0, 15]], [[23, 25]]], [[[4, 8], [26, 31]]], [[[34, 38]], [[5, 7]]]],
}


def read(nlp, folder, *rows):
    path = folder / "file.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf8")
    return list(read_craft(path, nlp))


def test_characters_become_tokens(nlp, tmp_path):
    nlp.add_pipe("sentencizer")
    (document,) = read(nlp, tmp_path, ROW)
    pairs = zip(document.words, document.spaces, strict=True)
    assert "".join(word + " " * space for word, space in pairs) == TEXT
    starts = [document.words[i] for i in document.sentence_starts]
    assert starts == ["The", "It", "Mice"]
    assert document.entities == {
        "1": [GoldMention(0, 5), GoldMention(7, 8)],
        "3": [GoldMention(11, 12), GoldMention(1, 2)],  # widened to whole tokens
    }
    assert document.n_skipped == 1


def test_what_annotate_writes_is_read(nlp, tmp_path):
    clusters = [[[0, 15, "The gene (Daz1)"], [23, 25, "It"]]]
    (document,) = read(nlp, tmp_path, {**ROW, "clusters": clusters, "links": []})
    assert document.entities == {"1": [GoldMention(0, 5), GoldMention(7, 8)]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (3, "AttributeError"),
        ({"id": "1", "clusters": []}, "'text'"),
        ({"id": "1", "text": "a"}, "'clusters'"),
        ({"id": "1", "text": 3, "clusters": []}, "Error"),
        ({"id": "1", "text": "a", "clusters": [[[[0, 9]]]]}, "no text from 0 to 9"),
        ({"id": "1", "text": "a", "clusters": [[[[0, 0]]]]}, "no text from 0 to 0"),
        ({"id": "1", "text": "a", "clusters": [[[["x", 1]]]]}, "Error"),
        ({"id": "1", "text": "a", "clusters": [[[]]]}, "Error"),
    ],
)
def test_what_is_broken_is_said_with_its_place(nlp, tmp_path, row, message):
    with pytest.raises(ValueError, match=rf"R410.*line 2.*{message}"):
        read(nlp, tmp_path, ROW, row)


def test_a_line_break_ends_a_sentence(nlp, tmp_path):
    row = {"text": "\nAbstract\n\nBackground \nMice.", "clusters": []}
    (document,) = read(nlp, tmp_path, row)
    assert document.id == "file_1"
    starts = [document.words[i] for i in document.sentence_starts]
    assert starts == ["\n", "Background", "Mice"]
