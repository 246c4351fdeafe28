"""Tokenizing in linear time, whatever the text.

spaCy's tokenizer takes affixes off a run of non-space characters one by one, and looks
at the rest of the run each time: 8,000 dollar signs take a minute. So a longer run than
any word is cut into parts that are tokenized one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spacy.tokens import Doc

LONGEST_RUN = 256  # characters without white space that are tokenized together

_CUT = re.compile(rf"(?<!\S)(?:\S{{{LONGEST_RUN}}})+(?=\S)")


def tokenize(tokenizer: Callable[[str], Doc], text: str) -> Doc:
    """The text as a Doc; runs without white space are cut every LONGEST_RUN characters.

    The Doc's text and offsets are those of the text. A text without such runs is
    tokenized as ever.
    """
    parts = cut_runs(text)
    if len(parts) == 1:
        return tokenizer(text)
    docs = [tokenizer(part) for part in parts]
    return Doc.from_docs(docs, ensure_whitespace=False) or tokenizer(text)


def cut_runs(text: str) -> list[str]:
    """The parts of a text in which no run without white space is too long."""
    cuts = [0]
    for run in _CUT.finditer(text):
        cuts += range(run.start() + LONGEST_RUN, run.end() + 1, LONGEST_RUN)
    return [text[i:j] for i, j in zip(cuts, [*cuts[1:], None], strict=True)]
