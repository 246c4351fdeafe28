"""Pipelines that texts can crash, stall or make fail."""

import os
import signal
import time
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc


def make_trouble(text: str) -> None:
    once = Path("crashed-once")
    if "CRASH" in text and not ("ONCE" in text and once.exists()):
        if "ONCE" in text:
            once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if "STALL" in text:
        time.sleep(600)
    if "RAISE" in text:
        raise ValueError("no such word")


@Language.component("troubled")
def troubled(doc: Doc) -> Doc:
    make_trouble(doc.text)
    return doc


def load() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("troubled")
    return nlp


def load_reader():
    """The packaged reader, with a tokenizer that has the same troubles."""
    nlp = spacy.blank("en")
    reader = nlp.add_pipe("refreader")

    def tokenizer(text: str) -> Doc:
        make_trouble(text)
        return nlp.tokenizer(text)

    reader.tokenizer = tokenizer
    return reader


def fail_to_load():
    raise ValueError("no such pipeline")
