"""English words: pronouns, determiners, and names that tell a gender."""

from __future__ import annotations

import json
from enum import IntEnum
from functools import lru_cache
from importlib.resources import files


class Gender(IntEnum):
    """What a word says about the gender of whoever it refers to."""

    UNKNOWN = 0
    MASCULINE = 1
    FEMININE = 2
    NEUTER = 3


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


@lru_cache
def given_names() -> dict[str, Gender]:
    """First names whose bearers are all but always of one gender, and titles.

    Without those that are places as well.
    """
    folder = files("refreader_spacy.lang.en")
    listed = json.loads((folder / "given_names.json").read_text("utf8"))
    masculine = words(listed["he"]) | words("Mr. Mr Sir")
    feminine = words(listed["she"]) | words("Mrs. Mrs Ms. Ms Miss")
    return {
        **dict.fromkeys(masculine, Gender.MASCULINE),
        **dict.fromkeys(feminine, Gender.FEMININE),
    }
