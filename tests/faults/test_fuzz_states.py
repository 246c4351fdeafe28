"""Saved streams and models with bytes or numbers changed: read, or a message of ours.

`make fuzz` tries many more, with the compiled reader under AddressSanitizer.
"""

import ctypes
import os
from pathlib import Path

import pytest
from fuzzing import OURS, message, tries
from hostile import Hostile
from mutations import mutated
from srsly.msgpack import msgpack_decoders, msgpack_encoders

from refreader_spacy.reader.kernels import entity
from refreader_spacy.streaming.saved_stream import packed, unpacked
from refreader_spacy.streaming.stream import Stream


@pytest.fixture(autouse=True)
def known_encoders(monkeypatch):
    """srsly looks for encoders in all installed packages at each call, which takes
    longer than to load a stream."""
    for registry in (msgpack_encoders, msgpack_decoders):
        found = registry.get_all()
        monkeypatch.setattr(registry, "get_all", lambda found=found: found)


@pytest.fixture(params=["reader_nlp", "paper_nlp"])
def nlp_of(request):
    nlp = request.getfixturevalue(request.param)
    nlp.get_pipe("refreader").threshold = 0.0
    return nlp


@pytest.fixture
def saved(nlp_of) -> bytes:
    """A stream in the middle of a sentence, of a word and of what somebody says."""
    stream = nlp_of.get_pipe("refreader").stream()
    stream.feed("Bo told Ann Lee that he was late, and she ", meta={"page": [1]})
    stream.feed("left the house with Bo Har", speaker="Ann")
    return stream.to_bytes()


@pytest.mark.skipif("SANITIZED" not in os.environ, reason="for `make fuzz`")
def test_the_compiled_reader_is_under_the_sanitizer():
    assert Path(os.environ["SANITIZED"]).resolve() in Path(entity.__file__).parents
    assert ctypes.CDLL(None).__asan_init


def test_no_changed_bytes_of_a_stream_are_accepted(nlp_of, saved):
    for chance in tries("stream bytes"):
        data = mutated(saved, chance)
        if data != saved:
            said = message(lambda data=data: Stream.from_bytes(nlp_of, data))
            assert said
            assert OURS.match(said)


def test_any_state_is_gone_on_with_or_there_is_a_message(nlp_of, saved):
    """With the right checksum, so that it is the ranges that are checked."""
    hostile = Hostile(unpacked(saved))

    def go_on(data: bytes) -> None:
        stream = Stream.from_bytes(nlp_of, data)
        stream.feed("Bo Lee met her. She said ")
        assert stream.clusters is not None
        Stream.from_bytes(nlp_of, stream.to_bytes())
        stream.feed(["Ann", " ", "left"])
        stream.close()

    n_tried = n_read = 0
    for chance in tries("stream state"):
        n_tried += 1
        try:
            data = packed(hostile(chance))
        except ValueError:  # no state that could be saved
            continue
        said = message(lambda data=data: go_on(data))
        assert OURS.match(said), said
        n_read += not said
    assert n_read >= n_tried // 50  # some changes do no harm


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a weight may be infinite
def test_any_model_is_read_or_there_is_a_message(nlp_of):
    pipe = nlp_of.get_pipe("refreader")
    data = pipe.to_bytes()
    text = "Bo told Ann Lee that he was late, and she left."

    def read(changed: bytes) -> None:
        pipe.from_bytes(changed)
        nlp_of(text)

    for chance in tries("model bytes"):
        said = message(lambda chance=chance: read(mutated(data, chance)))
        assert OURS.match(said), said
    pipe.from_bytes(data)
    assert nlp_of(text)
