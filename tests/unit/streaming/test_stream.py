"""A stream and its events."""

import gc
from collections import defaultdict
from functools import partial

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from refreader_spacy.streaming.events import (
    ClusterFinished,
    LinkMade,
    MentionClosed,
    MentionStored,
)
from refreader_spacy.streaming.open_clusters import LATEST, N_TOKENS
from refreader_spacy.streaming.saved_stream import packed, unpacked
from refreader_spacy.streaming.stream import Stream


@pytest.fixture
def pipe(reader_nlp):
    pipe = reader_nlp.get_pipe("refreader")
    pipe.threshold = 0.02
    return pipe


def events_of(stream, pieces):
    return [event for piece in pieces for event in stream.feed(piece)] + stream.close()


def of_kind(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_mentions_say_where_they_are_and_what_their_piece_said(pipe):
    stream = pipe.stream()
    events = stream.feed("Ann met B", meta={"speaker": 1})
    events += stream.feed("o. She left.", meta={"speaker": 2})
    events += stream.close()
    mentions = [event.mention for event in of_kind(MentionStored, events)]
    text = "Ann met Bo. She left."
    assert mentions
    for mention in mentions:
        assert text[mention.start_char : mention.end_char] == mention.text
        assert mention.meta == {"speaker": 1 if mention.start_char < 9 else 2}


def test_links_name_mentions_of_one_entity(pipe):
    links = of_kind(
        LinkMade,
        events_of(pipe.stream(), ["Bo told Bo Lee that he was late, and he was."]),
    )
    assert links
    for antecedent, anaphor, probability in links:
        assert antecedent.entity == anaphor.entity
        assert antecedent.head < anaphor.head
        assert 0.02 <= probability <= 1


def test_reset_begins_anew(pipe):
    stream = pipe.stream()
    first = events_of(stream, ["Bo told Ann Lee he was late."])
    stream.reset()
    assert stream.clusters == []
    assert events_of(stream, ["Bo told Ann Lee he was late."]) == first


def test_tokens_spans_and_docs_can_be_mixed_with_text(pipe, reader_nlp):
    doc = reader_nlp.make_doc("Bo told Ann Lee that he was late.")
    whole = events_of(pipe.stream(), [doc])
    words = [token.text for token in doc]
    mixed = events_of(pipe.stream(), ["Bo to", "ld ", doc[2:4], words[4:6], doc[6:]])
    places = [
        [event.mention[1:] for event in of_kind(MentionStored, events)]
        for events in (mixed, whole)
    ]
    assert places[0] == places[1]


def test_a_closed_stream_says_so(pipe):
    stream = pipe.stream()
    stream.feed("Ann")
    assert stream.close()
    assert stream.close() == []
    with pytest.raises(ValueError, match=r"R252.*reset\(\)"):
        stream.feed("Bo")


def test_mentions_are_stored_at_their_heads_and_closed_later(pipe):
    stream = pipe.stream()
    events = []
    for word in ["Bo", "told", "Ann", "Lee", "that", "he", "was", "late", "."]:
        for event in stream.feed([word]):
            if isinstance(event, MentionStored):
                assert event.mention.end == event.mention.head + 1
            events.append(event)
    events += stream.close()
    stored = {
        event.mention.head: event.mention for event in of_kind(MentionStored, events)
    }
    closed = {
        event.mention.head: event.mention for event in of_kind(MentionClosed, events)
    }
    assert stored.keys() == closed.keys()
    for head, mention in closed.items():
        assert mention.start == stored[head].start
        assert mention.end >= stored[head].end


def test_an_endless_entity_is_kept_in_part(pipe):
    pipe.threshold = 0.0
    stream = pipe.stream()
    for _ in range(60):
        stream.feed(["she"] * 100)
    assert all(
        len(mentions) <= LATEST for mentions in stream._clusters._entities.values()
    )
    assert len(stream._clusters._tokens) <= N_TOKENS
    assert len(stream._clusters._mentions) <= LATEST * 8


def test_a_speaker_ends_the_word_before(pipe):
    stream = pipe.stream()
    events = stream.feed("I saw Bo", speaker="Ann")
    events += stream.feed("Lee", speaker="Cy") + stream.close()
    assert events
    assert [token.text for token in stream._clusters._tokens] == [
        "I",
        "saw",
        "Bo",
        "Lee",
    ]


def test_singletons_are_finished_if_they_are_kept(pipe):
    pipe.keep_singletons = True
    finished = of_kind(ClusterFinished, events_of(pipe.stream(), ["Ann"]))
    assert finished
    assert all(len(event.mentions) == 1 for event in finished)
    pipe.keep_singletons = False
    assert not of_kind(ClusterFinished, events_of(pipe.stream(), ["Ann"]))


def test_an_encoder_that_looks_ahead_has_no_stream(nlp, examples):
    tok2vec = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "width": 8,
        "depth": 1,
        "embed_size": 100,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": False,
        "pretrained_vectors": None,
    }
    model = {
        "@architectures": "refreader-spacy.EntityReader.v1",
        "tok2vec": tok2vec,
        "width": 8,
        "hidden_size": 8,
    }
    pipe = nlp.add_pipe("refreader", config={"model": model})
    nlp.initialize(lambda: examples)
    assert pipe.lookahead
    with pytest.raises(ValueError, match=r"R250.*encoder of single tokens"):
        pipe.stream()


def test_an_untrained_pipe_has_no_stream(pipe):
    pipe.model.attrs["trained"] = False
    with pytest.raises(ValueError, match="R002"):
        pipe.stream()


def test_text_needs_a_tokenizer_and_tokens_do_not(pipe):
    stream = Stream(pipe, tokenizer=None)
    stream.feed(["Ann", "left"])
    with pytest.raises(ValueError, match=r"R251.*feed Docs or tokens"):
        stream.feed("Bo left")


def test_meta_that_cannot_be_saved_says_so(pipe):
    stream = pipe.stream()
    stream.feed("Ann met Bo", meta=object())
    with pytest.raises(ValueError, match=r"R254.*JSON"):
        stream.to_bytes()


@pytest.mark.parametrize("data", [b"", b"no", b"\x80"])
def test_other_data_is_no_stream(reader_nlp, data):
    with pytest.raises(ValueError, match="R255"):
        Stream.from_bytes(reader_nlp, data)


def test_another_pipeline_does_not_take_the_stream(pipe, reader_nlp, examples):
    data = pipe.stream().to_bytes()
    config = reader_nlp.get_pipe_config("refreader").copy()
    config.pop("factory")
    reader_nlp.remove_pipe("refreader")
    with pytest.raises(ValueError, match=r"R256.*'refreader'"):
        Stream.from_bytes(reader_nlp, data)
    config["model"]["n_cells"] = 5
    reader_nlp.add_pipe("refreader", config=config)
    reader_nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match="R257"):
        Stream.from_bytes(reader_nlp, data)


def test_no_changed_byte_is_accepted(pipe, reader_nlp):
    stream = pipe.stream()
    stream.feed("Bo told Ann Lee that he was late, and she ", meta=1)
    data = stream.to_bytes()
    for place in range(0, len(data), 97):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(ValueError, match=r"R25[567]"):
            Stream.from_bytes(reader_nlp, changed)


def test_a_state_with_numbers_out_of_range_is_refused(pipe, reader_nlp):
    """Whoever knows the checksum can write any state."""
    stream = pipe.stream()
    stream.feed("Bo told Ann Lee that he was late, and she ")
    saved = unpacked(stream.to_bytes())
    for name, value in (
        *(("fields", 10**6), ("fields", -5), ("entities", 99), ("open_head", 10**6)),
        *(("rows", -1), ("open_number", -3), ("total", float("nan"))),
    ):
        state = dict(saved["state"]["state"])
        array = state[name].copy()
        if not array.size:
            continue
        array.flat[0] = value
        state[name] = array
        changed = {**saved, "state": {**saved["state"], "state": state}}
        with pytest.raises(ValueError, match="R257"):
            Stream.from_bytes(reader_nlp, packed(changed))


def test_a_word_without_an_end_is_cut(pipe):
    stream = pipe.stream()
    for _ in range(3000):
        stream.feed("ab")
    assert sum(len(part.text) for part in stream._text.parts) <= 1000


@pytest.mark.parametrize("n", [300, 1500])
def test_any_number_of_white_space_tokens_may_come_between(pipe, n):
    """They are fed as tokens: in a text, white space is one token."""
    pipe.keep_singletons = True
    words = ["the", *["\n"] * n, "captain", "Ann", *[" "] * n, "Lee", *["\n"] * n]
    text = " ".join(words) + " "
    for pieces in ([words], [[word] for word in words]):
        mentions = [
            event.mention
            for event in of_kind(MentionClosed, events_of(pipe.stream(), pieces))
        ]
        assert mentions
        for mention in mentions:
            whole = text[mention.start_char : mention.end_char]
            assert whole.startswith(mention.text[:100])
            assert whole.split() == mention.text.split()


def test_a_long_run_is_cut_before_it_is_tokenized(pipe):
    """spaCy's tokenizer would take hours."""
    stream = pipe.stream()
    stream.feed("$(" * 100_000)
    stream.close()
    assert stream._clusters.n_chars == 200_000


def test_garbage_is_collected_after_bad_data_too(reader_nlp):
    with pytest.raises(ValueError, match="R255"):
        Stream.from_bytes(reader_nlp, b"\xd9")
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens", []),
        ("n_tokens", 10**6),
        ("n_tokens", "x"),
        ("mentions", []),
        ("mentions", [[0, ["x"] * 9]]),
        ("entities", [[0]]),
        ("text", [[1, 2, 3]]),
        ("speaker", 7),
        ("decoder", {}),
    ],
)
def test_parts_that_do_not_fit_are_refused(pipe, reader_nlp, name, value):
    stream = pipe.stream()
    stream.feed("Bo told Ann Lee that he was late, and she ", meta=1)
    changed = {**unpacked(stream.to_bytes()), name: value}
    with pytest.raises(ValueError, match=r"R257.*to_bytes"):
        Stream.from_bytes(reader_nlp, packed(changed))


def test_a_decoder_of_another_reader_is_refused(pipe, reader_nlp):
    saved = unpacked(pipe.stream().to_bytes())
    for name, value in {"scheme": 99, "threshold": float("nan")}.items():
        changed = {**saved, "decoder": {**saved["decoder"], name: value}}
        with pytest.raises(ValueError, match="R257"):
            Stream.from_bytes(reader_nlp, packed(changed))


def test_a_state_of_the_papers_reader_is_checked(paper_nlp):
    stream = paper_nlp.get_pipe("refreader").stream()
    stream.feed("Bo told Ann Lee that he was late, and she ")
    saved = unpacked(stream.to_bytes())
    zeros = np.zeros(stream._reader.n_cells, np.float32)
    mention = {"start": 0, "end": saved["n_tokens"], "capital": True, "cell": 0}
    mention |= {"new": b"", "kept": zeros, "stored": zeros, "links": zeros}
    changed = {**saved, "state": {**saved["state"], "open": mention}}
    with pytest.raises(ValueError, match=r"R257.*new"):
        Stream.from_bytes(paper_nlp, packed(changed))


def test_an_empty_piece_is_no_event(pipe, reader_nlp):
    stream = pipe.stream()
    for piece in ("", [], Doc(reader_nlp.vocab)):
        assert stream.feed(piece) == []
    assert stream.close() == []


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        ("Bo \ud800", r"R274.*The piece has half a character.*ud800"),
        (["Bo", "\udfff"], r"R274.*half a character"),
        (["Bo", ""], r"R273.*a list with ''"),
        (["Bo", 97], r"R273.*a list with 97"),
        (b"Bo", r"R273.*of type bytes"),
        (5, r"R273.*of type int"),
    ],
)
def test_what_is_no_text_is_refused_and_the_stream_goes_on(pipe, piece, message):
    stream, expected = pipe.stream(), pipe.stream()
    assert stream.feed("Ann m") == expected.feed("Ann m")
    with pytest.raises(ValueError, match=message):
        stream.feed(piece)
    assert stream.feed("et Bo. She ") == expected.feed("et Bo. She ")


@pytest.mark.parametrize(("speaker", "code"), [("\ud800", "R274"), (5, "R275")])
def test_a_speaker_has_a_name(pipe, speaker, code):
    with pytest.raises(ValueError, match=code):
        pipe.stream().feed("Ann met Bo. ", speaker=speaker)


RETURNS = (
    "Ruth Calder opened a school in Lisbon. Tom Brook sold his boat to a sailor. Kofi "
    "Mensah fed a horse near the river. Elena Duarte bought a house and a garden. Ruth "
    "Calder came back. Jonas Berg wrote a letter about the weather to his aunt. Mary "
    "Shaw broke a window and a door. Peter Hall lost his keys in a forest. Lisbon was "
    "cold. Anna Weiss cooked a soup with an onion and a leek. Ben Marsh left. "
    "Ruth Calder left Lisbon."
)


@pytest.fixture
def forgetful():
    """The package's weights with so few cells that nearly everybody is forgotten."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("refreader")
    kept = pipe.model.attrs["reader"]
    settings = {**kept.make.keywords, "n_cells": 4}
    kept.make = partial(kept.make.func, **settings)
    pipe.model.shims[0].changed()
    return nlp


@pytest.mark.parametrize("is_saved", [False, True])
def test_who_is_found_again_is_reported_with_all_mentions(forgetful, is_saved):
    doc = forgetful(RETURNS)
    stream = forgetful.get_pipe("refreader").stream()
    finished = []
    for token in doc:
        finished += of_kind(ClusterFinished, stream.feed(token.text_with_ws))
        if is_saved and token.is_punct:
            stream = Stream.from_bytes(forgetful, stream.to_bytes())
    finished += of_kind(ClusterFinished, stream.close())
    assert len({event.entity for event in finished}) < len(finished)
    found = defaultdict(list)
    for event in finished:
        found[event.entity] += [(m.start, m.end) for m in event.mentions]
    expected = [[(s.start, s.end) for s in c] for c in doc._.coref_clusters]
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected))
