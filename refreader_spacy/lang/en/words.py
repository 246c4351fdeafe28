"""English words by class, and what single words tell about gender and number.

The lists that several modules use. Each stands here once; those of pronouns are in
`pronouns`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from importlib.resources import files


class Gender(IntEnum):
    """What a word says about the gender of whoever it refers to."""

    UNKNOWN = 0
    MASCULINE = 1
    FEMININE = 2
    NEUTER = 3


class Number(IntEnum):
    """What a word says about how many it refers to."""

    UNKNOWN = 0
    SINGULAR = 1
    PLURAL = 2


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = words("a an the")
DETERMINERS = ARTICLES | words(
    "this that these those some any each every no both all another"
)
NUMERALS = words("two three four five six seven eight nine ten eleven twelve")
COORDINATORS = words("and or & nor")
PREPOSITIONS = words(
    "about above across after against along alongside amid among amongst around as at "
    "atop before behind below beneath beside besides between beyond by concerning "
    "despite down during except following for from in including inside into like near "
    "of off on onto opposite out outside over past per regarding since such than "
    "through throughout till to toward towards under underneath until unto up upon "
    "via versus vs with within without"
)
MASCULINE_TITLES = words("mr mr. sir")
FEMININE_TITLES = words("mrs mrs. ms ms. miss")
TITLES = MASCULINE_TITLES | FEMININE_TITLES
TITLES |= words(
    "dr dr. prof prof. professor lord lady captain capt. president king queen prince "
    "princess judge justice senator sen. rep. gov. governor general gen. colonel col. "
    "major lieutenant lt. sergeant sgt. mayor st. saint reverend rev. father sister "
    "brother uncle aunt madame madam monsieur m. mme. doctor minister secretary "
    "chancellor emperor duke count baron pope bishop"
)
# Said like names: "mom called"
KIN = words(
    "mom mum mommy mummy mama mamma dad daddy papa pa grandma grandpa granny grandad "
    "nan nana auntie"
)
CLITICS = frozenset({"'s", "’s"})  # noqa: RUF001
HYPHENS = frozenset({"-", "‐", "‑"})  # noqa: RUF001
GREETINGS = words("hi hello hey dear")
DATES = words(
    "monday tuesday wednesday thursday friday saturday sunday january february march "
    "april may june july august september october november december today yesterday "
    "tomorrow tonight"
)
# Sentences begin with these verbs where something is to be done, and with no noun that
# looks like one: "Peel the potatoes"
IMPERATIVES = words(
    "add adjust allow apply arrange ask attach avoid bake beat blend boil break bring "
    "brush buy call carry check choose chop clean clear click close collect combine "
    "compare complete connect consider contact continue copy cover create cut delete "
    "describe detach dip discard disconnect dissolve divide download drag drain dry "
    "eat empty ensure enter erase explain fasten fetch fill find finish fix fold "
    "follow forget fry gather get give glue grab grate grease grill grind grip hang "
    "hold identify imagine include insert inspect install join keep knead learn leave "
    "let lift listen locate look loosen lower make marinate measure melt mix move "
    "nail notice obtain open paste pay peel pick pinch place plug pour preheat "
    "prepare press print pull push put raise reboot reduce refer reinstall remember "
    "remove repeat replace restart return rinse roast roll rotate rub run save scrape "
    "scroll scrub season select send serve set shake shut simmer sit sketch "
    "slice slide soak spread sprinkle squeeze stand start stir stop store "
    "strain submit swap switch take tap taste tear tell thread throw tie tighten "
    "toss touch trim try turn twist type uncover undo unfold uninstall unlock unplug "
    "unscrew untie unwrap unzip update upgrade upload use verify visit wait wash "
    "watch wear whisk wipe wrap write zip"
)
# Names begin with these and never end there: "De Groot", "Van Gogh"
NAME_PREFIXES = words("van von de der du di da del della ibn")
IRREGULAR_PLURALS = words("people men women children police feet teeth mice cattle")
SINGULAR_IN_S = words("news series species means gas bus lens")
_NOT_PLURAL = re.compile(r"(ss|us|is|'s)$")


def plain(word: str) -> str:
    """A word in lower case with a straight apostrophe."""
    return word.lower().replace("’", "'")  # noqa: RUF001


def stem_of(lower: str) -> str:
    """A lower-cased word without the ending of a regular plural."""
    if len(lower) > 3 and lower.endswith("s") and not _NOT_PLURAL.search(lower):
        if lower.endswith("ies") and len(lower) > 4:
            return lower[:-3] + "y"
        return lower[:-1]
    return lower


def is_plural_noun(word: str) -> bool:
    """Does a noun's form say that there are several?"""
    lower = word.lower()
    if lower in SINGULAR_IN_S or lower.endswith("ics"):
        return False
    return lower in IRREGULAR_PLURALS or stem_of(lower) != lower


@lru_cache
def given_names() -> dict[str, Gender]:
    """First names whose bearers are all but always of one gender, and titles.

    Without those that are places as well.
    """
    folder = files("refreader_spacy.lang.en")
    listed = json.loads((folder / "given_names.json").read_text("utf8"))
    names = {
        Gender.MASCULINE: words(listed["masculine"]),
        Gender.FEMININE: words(listed["feminine"]),
    }
    titles = {Gender.MASCULINE: MASCULINE_TITLES, Gender.FEMININE: FEMININE_TITLES}
    return {
        word: gender
        for gender in names
        for word in names[gender] | {title.capitalize() for title in titles[gender]}
    }


def name_gender(name: Iterable[str]) -> Gender:
    """The gender that a name's title or first name tells."""
    told = (given_names()[word] for word in name if word in given_names())
    return next(told, Gender.UNKNOWN)
