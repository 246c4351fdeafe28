"""English words that decide what can be a mention and how it is replaced."""

from __future__ import annotations

import numpy as np
from spacy.lexeme import Lexeme
from spacy.tokens import Doc

from refreader_spacy.decode import Kinds, TokenKind


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSSESSIVES = words(
    "my mine our ours your yours his her hers its their theirs thy thine"
)
PLURAL_POSSESSIVES = words("our ours your yours their theirs")
REFLEXIVES = words(
    "myself ourselves yourself yourselves himself herself itself themself themselves "
    "oneself thyself"
)
RELATIVES = words("who whom whose")  # "that" and "which" are more often something else
PRONOUNS = POSSESSIVES | REFLEXIVES | RELATIVES
PRONOUNS |= words("i me we us you he him she her it they them 'em thou thee ye")
GENDERS = {
    **dict.fromkeys(words("he him his himself"), TokenKind.HE),
    **dict.fromkeys(words("she her hers herself"), TokenKind.SHE),
    **dict.fromkeys(words("it its itself"), TokenKind.IT),
}

DETERMINERS = words(
    "a an the this that these those some any each every no both all another"
)
# What follows "her" where it is an object: "saw her again", "told her that ..."
AFTER_OBJECTS = words(
    "to in on at for with without from by about as of off out up over into onto "
    "through against around before after until since during and or but nor so if when "
    "while because though although than that which who whom how why what where whether "
    "not is was were are be will would had has have can could should may might must "
    "did does again too there here then now once alone away today yesterday tomorrow"
)
CLITICS = frozenset({"'s", "’s"})  # noqa: RUF001
HYPHENS = frozenset({"-", "‐", "‑"})  # noqa: RUF001


def token_kinds(doc: Doc) -> Kinds:
    """Each token's TokenKind (T,).

    A hyphen inside a word is as ordinary as its neighbours: "Jean-Paul" is one name.
    """
    orths, spaces = doc.to_array(["ORTH", "SPACY"]).T
    words, word_of_token = np.unique(orths, return_inverse=True)
    lexemes = [doc.vocab[word] for word in words]
    kinds = np.array([word_kind(lexeme) for lexeme in lexemes], dtype=np.uint8)
    hyphens = np.array([lexeme.text in HYPHENS for lexeme in lexemes], dtype=bool)
    kinds, hyphens = kinds[word_of_token], hyphens[word_of_token]
    inside = np.zeros(len(doc), dtype=bool)
    inside[1:-1] = (spaces[:-2] == 0) & (spaces[1:-1] == 0)
    kinds[hyphens & inside] = TokenKind.ORDINARY
    return kinds


def word_kind(word: Lexeme) -> TokenKind:
    """What a word may be to a mention, wherever it stands."""
    lower = word.lower_
    if word.is_punct or word.is_space or lower in CLITICS:
        return TokenKind.NEVER
    plain = TokenKind.ALONE if lower in PRONOUNS else TokenKind.ORDINARY
    return GENDERS.get(lower, plain)
