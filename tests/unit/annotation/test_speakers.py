"""Who says what, from labels at the beginnings of lines."""

import time

import pytest
import spacy

from refreader_spacy.annotation.speakers import Turn, find_speakers, write_speakers

NLP = spacy.blank("en")


def found(text):
    doc = find_speakers(NLP.make_doc(text))
    turns = [(span.label_, span.text) for span in doc.spans["speakers"]]
    return turns, [span.text for span in doc.spans["speaker_labels"]]


@pytest.mark.parametrize(
    ("text", "turns", "labels"),
    [
        ("Anna: Hi.\nBen: Hello.", [("Anna", "Hi."), ("Ben", "Hello.")], 2),
        ("ANNA: I am\nlate.", [("ANNA", "I am\nlate.")], 1),
        ("Dr. Mary Jones: No.", [("Dr. Mary Jones", "No.")], 1),
        ("Speaker 2: Yes.", [("Speaker 2", "Yes.")], 1),
        ("[10:32] Ben (laughs): Yes.", [("Ben", "Yes.")], 1),
        ("Élodie O'Neil: Oui.", [("Élodie O'Neil", "Oui.")], 1),
        ("Anna:\nBen: Hello.", [("Ben", "Hello.")], 2),
        ("She said: no. See http://a.b", [], 0),
        ("It is 10:30 now, Anna: late.", [], 0),
        ("", [], 0),
    ],
)
def test_labels_at_line_starts_say_who_speaks(text, turns, labels):
    assert found(text)[0] == turns
    assert len(found(text)[1]) == labels


def test_many_turns_take_linear_time():
    doc = NLP.make_doc("Anna: Hi.\n" * 10_000)
    started = time.process_time()
    assert len(find_speakers(doc).spans["speakers"]) == 10_000
    assert time.process_time() - started < 5


def test_known_speakers_stay():
    doc = NLP.make_doc("Anna: Hi.")
    write_speakers(doc, [Turn(0, 9, "Bo")])
    find_speakers(doc)
    assert [span.label_ for span in doc.spans["speakers"]] == ["Bo"]
    assert "speaker_labels" not in doc.spans


def test_a_label_is_no_mention(reader_nlp):
    pipe = reader_nlp.get_pipe("refreader")
    pipe.threshold, pipe.keep_singletons = 0.0, True
    text = "Ann: Bo met Cy.\nBo: Cy met Ann."
    before = {m.start for c in reader_nlp(text)._.coref_clusters for m in c}
    assert before & {0, 1, 7, 8}
    reader_nlp.add_pipe("refreader_speakers", first=True)
    doc = reader_nlp(text)
    labels = {token.i for span in doc.spans["speaker_labels"] for token in span}
    mentions = [m for c in doc._.coref_clusters for m in c]
    assert mentions
    assert not labels & {m.start for m in mentions}


def test_a_stream_of_docs_knows_their_speakers(reader_nlp):
    pipe = reader_nlp.get_pipe("refreader")
    pipe.threshold, pipe.keep_singletons = 0.0, True
    reader_nlp.add_pipe("refreader_speakers", first=True)
    doc = reader_nlp("Ann: I met Bo.\nBo: I met Ann.")
    stream = pipe.stream()
    stream.feed(doc[:5])
    stream.feed(doc[5:])
    on_doc = [[m.text for m in c] for c in doc._.coref_clusters]
    stream.close()
    assert [[m.text for m in c] for c in stream.clusters] == on_doc
