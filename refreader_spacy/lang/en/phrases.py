"""English noun phrases: which words they have, and what they become elsewhere."""

from __future__ import annotations

import re
from enum import IntEnum

from refreader_spacy.lang.en.words import PRONOUNS, Gender, given_names, words


class Case(IntEnum):
    """What a pronoun's form says about its place in the sentence."""

    SUBJECT = 0
    OBJECT = 1
    EITHER = 2  # "it", "you"
    POSSESSIVE = 3  # "his", "hers"
    AMBIGUOUS = 4  # "her"


def _by_case(**forms: str) -> dict[str, Case]:
    return {
        word: Case[case.upper()] for case, text in forms.items() for word in words(text)
    }


THIRD_SINGULAR = _by_case(
    subject="he she",
    object="him",
    either="it",
    possessive="his hers its",
    ambiguous="her",
)
THIRD_PLURAL = _by_case(subject="they", object="them 'em", possessive="their theirs")
FIRST_SINGULAR = _by_case(subject="i", object="me", possessive="my mine")
SECOND = _by_case(either="you", possessive="your yours")
CASES = THIRD_SINGULAR | THIRD_PLURAL | FIRST_SINGULAR | SECOND
MASCULINE = words("he him his")
FEMININE = words("she her hers")
DEMONSTRATIVES = words("this that these those")
# Mentions by themselves that say nothing of what they mean
PRO_FORMS = (
    PRONOUNS | DEMONSTRATIVES | words("one ones which both another other others")
)

INDEFINITES = words("a an some")
DEFINITES = words("the this that these those")
# A phrase that begins so means nobody in particular: "every man lost his hat"
QUANTIFIERS = words(
    "any each every no none neither either nobody everybody somebody anybody "
    "everyone someone anyone nothing everything something anything few many most "
    "several all half such whatever whoever what which whose how another enough more "
    "less"
)
NUMERALS = words("two three four five six seven eight nine ten eleven twelve")
TITLES = words(
    "mr mr. mrs mrs. ms ms. miss dr dr. prof prof. professor sir lord lady captain "
    "capt. president king queen prince princess judge justice senator sen. rep. gov. "
    "governor general gen. colonel col. major lieutenant lt. sergeant sgt. mayor st. "
    "saint reverend rev. father sister brother uncle aunt madame madam monsieur m. "
    "mme. doctor minister secretary chancellor emperor duke count baron pope bishop"
)
PARTICLES = words(
    "van von der den de del della di da du la le el al bin ibn ben ter ten zu zur dos"
)
NAME_SUFFIXES = words("jr jr. sr sr. ii iii iv inc inc. ltd ltd. llc plc co co. corp.")
# Capitalised, and no part of the name that follows
BEFORE_NAMES = words(
    "hi hello hey dear oh ah yes no thanks thank well so monday tuesday wednesday "
    "thursday friday saturday sunday january february march april may june july "
    "august september october november december today yesterday tomorrow tonight on "
    "in at when while after before if as since although though because but and or "
    "then now once here there only even both not like unlike with without from by "
    "for to that what who where why how let is was did does do has had are were will "
    "would can could"
)

PREPOSITIONS = words(
    "in on at for with without from by about as of off out up over into onto through "
    "against around before after until since during to under near behind beside "
    "between among within toward towards upon across along despite like"
)
CLAUSE_OPENERS = words(
    "who whom whose which that where when while because though although if unless "
    "whether than why how what so until since before after as and but or nor then to "
    "for"
)
AUXILIARIES = words(
    "is was were are be been being am will would had has have can could should may "
    "might must shall did does do 'm 're 've 'll 'd ca wo sha ai"
)
COPULAS = words(
    "is was were are be been being am 's 're 'm become becomes became remain remains "
    "remained called named as elected appointed"
)
# After these, "her" and a noun may be two objects: "gave her flowers"
DITRANSITIVES = words(
    "give gives gave given giving get gets got getting tell tells told telling show "
    "shows showed shown showing send sends sent sending bring brings brought "
    "bringing buy buys bought buying offer offers offered offering teach teaches "
    "taught ask asks asked asking lend lends lent pay pays paid paying hand hands "
    "handed handing pass passes passed throw threw make makes made making cook "
    "cooked find found read wrote write promise promised owe owed wish wished cost "
    "costs call calls called name named consider considered let lets help helps "
    "helped hear heard see saw watch watched"
)
# After "her", these may belong to a noun or to the verb: "loved her very much"
DEGREES = words("very more much most less least well better best even just still ever")
IRREGULAR_PLURALS = words("people men women children police feet teeth mice cattle")
NOT_PLURAL = re.compile(r"(ss|us|is|ics)$")
SINGULAR_IN_S = words("news series species means gas bus lens")
# What a verb with "I", "you" or "they" becomes with a name
THIRD_PERSON = {
    "am": " is",
    "'m": " is",
    "are": " is",
    "'re": " is",
    "were": " was",
    "have": " has",
    "'ve": " has",
    "do": " does",
    "'ll": " will",
}
# With plural nouns only what was contracted changes
UNCONTRACTED = {"'re": " are", "'ve": " have", "'ll": " will"}
INVARIANT_VERBS = words(
    "was had did will would can could should may might must shall 'd 'll went came "
    "saw said took got made knew thought found gave told felt left put kept began "
    "ran brought wrote sat stood lost met paid fell held lived loved won bought "
    "spoke grew rose sent built slept heard meant led understood drew broke spent "
    "ate drank drove flew forgot forgave"
)


def plain(word: str) -> str:
    """A word in lower case with a straight apostrophe."""
    return word.lower().replace("’", "'")  # noqa: RUF001


def is_plural_noun(word: str) -> bool:
    """Does a noun's form say that there are several?"""
    lower = word.lower()
    if lower in IRREGULAR_PLURALS:
        return True
    return (
        len(lower) > 3
        and lower.endswith("s")
        and lower not in SINGULAR_IN_S
        and not NOT_PLURAL.search(lower)
    )


def name_gender(name: list[str]) -> Gender | None:
    """The gender that a name's title or first name tells."""
    for word in name:
        if word in given_names():
            return given_names()[word]
    return None


def third_person(verb: str) -> str:
    """A verb in the present as it stands with "he": "wants", "tries", "goes"."""
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")
