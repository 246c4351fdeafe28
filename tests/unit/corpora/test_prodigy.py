import json

import pytest
from hypothesis import HealthCheck, given, settings
from invented_documents import clusters, documents

from refreader_spacy.corpora.prodigy import prodigy_lines, read_prodigy


def span(first, last=None, label="REF"):
    return {"token_start": first, "token_end": first if last is None else last} | {
        "label": label
    }


def row(**changes):
    """ "Ann saw Bo. She and he left.", as an annotator would leave it."""
    words = ["Ann", "saw", "Bo", ".", "She", "and", "he", "left", "."]
    return {
        "text": " ".join(words),
        "tokens": [{"text": word, "id": i, "ws": True} for i, word in enumerate(words)],
        "spans": [span(0, label="person"), span(2), span(4), span(6), span(4, 6)],
        "relations": [
            {"head_span": span(4), "child_span": span(0), "label": "COREF"},
            {"head_span": span(2), "child_span": span(6), "label": "COREF"},
        ],
        "answer": "accept",
    } | changes


def written(path, *rows):
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_relations_are_entities(tmp_path):
    path = written(tmp_path / "a.jsonl", row(), row(answer="reject"), row(relations=[]))
    first, second = read_prodigy(path)
    assert clusters(first) == [[(0, 1), (4, 5)], [(2, 3), (6, 7)], [(4, 7)]]
    assert first.entities["0"][0].label == "person"
    assert len(clusters(second)) == 5


@given(document=documents())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_what_is_written_can_be_read(tmp_path, document):
    places = [m[:2] for ms in document.entities.values() for m in ms]
    if len({*places}) < len(places):  # of two entities, which Prodigy has no way to say
        return
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(prodigy_lines([document])), "utf8")
    (again,) = read_prodigy(path)
    assert clusters(again) == clusters(document)
    assert (again.words, again.spaces) == (document.words, document.spaces)
    assert (again.id, again.sentence_starts) == (document.id, document.sentence_starts)


def test_sentences_start_at_tokens(tmp_path):
    meta = {"sentence_starts": [0, 4.0, 99, None]}
    (document,) = read_prodigy(written(tmp_path / "a.jsonl", row(meta=meta)))
    assert document.sentence_starts == [0]


@pytest.mark.parametrize(
    "bad",
    [
        {"tokens": 3},
        {"tokens": [{"text": ""}]},
        {"spans": [{"start": 0}]},
        {"spans": [span(7, 3)]},
        {"spans": [span(0, 99)]},
        {"relations": [{"head": 1}]},
        {"meta": 5},
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, bad):
    path = written(tmp_path / "a.jsonl", row(), row(**bad))
    with pytest.raises(ValueError, match=r"R418.*line 2"):
        list(read_prodigy(path))
