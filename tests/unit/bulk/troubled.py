"""A pipeline that texts can crash, stall or make fail."""

import os
import signal
import time

import spacy
from spacy.language import Language


@Language.component("troubled")
def troubled(doc):
    if "CRASH" in doc.text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "STALL" in doc.text:
        time.sleep(60)
    if "RAISE" in doc.text:
        raise ValueError("no such word")
    return doc


def load() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("troubled")
    return nlp
