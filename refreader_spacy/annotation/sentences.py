"""Where sentences begin."""

from __future__ import annotations

from spacy.tokens import Doc, Token

ENDERS = frozenset(".!?…")


def sentence_starts(doc: Doc) -> list[int]:
    """The first token of each sentence, as annotated or else by rule.

    By rule, a full stop ends one, with the quotation marks and brackets that stand
    close to it, and so does a line break. White space begins none.
    """
    if doc.has_annotation("SENT_START"):
        return [token.i for token in doc if not token.i or token.is_sent_start]
    starts = []
    ended = True
    for token in doc:
        if token.is_space:
            ended |= "\n" in token.text
        elif ended and not closes(token):
            starts.append(token.i)
            ended = False
        ended |= set(token.text) <= ENDERS
    return sorted({0, *starts}) if len(doc) else []


def closes(token: Token) -> bool:
    """Does it belong to what stands before it, as the mark in 'He left."'?"""
    before = token.nbor(-1) if token.i else None
    is_mark = token.is_quote or token.is_bracket or set(token.text) <= ENDERS
    is_close = before is not None and not (before.whitespace_ or before.is_space)
    return is_mark and is_close
