"""English noun phrases: which words they have, and what they become elsewhere."""

from __future__ import annotations

import re

from refreader_spacy.lang.en.words import (
    DATES,
    GREETINGS,
    NAME_PREFIXES,
    PREPOSITIONS,
    words,
)

INDEFINITES = words("a an some")
# "A lot of men" are "the men" later, or "they", and not "the lot of men"
QUANTITIES = words(
    "lot number couple bunch handful majority minority variety range series dozen"
)
# A phrase that begins so means nobody in particular: "every man lost his hat"
QUANTIFIERS = words(
    "any each every no none neither either nobody everybody somebody anybody "
    "everyone someone anyone nothing everything something anything few many most "
    "several all half such whatever whoever what which whose how another enough more "
    "less"
)
PARTICLES = NAME_PREFIXES | words("den la le el al bin ben ter ten zu zur dos")
NAME_SUFFIXES = words("jr jr. sr sr. ii iii iv inc inc. ltd ltd. llc plc co co. corp.")
# Capitalised, and no part of the name that follows
BEFORE_NAMES = words(
    "oh ah yes no thanks thank well so on in at when while after before if as since "
    "although though because but and or then now once here there only even both not "
    "like unlike with without from by for to that what who where why how let is was "
    "did does do has had are were will would can could"
)
BEFORE_NAMES |= GREETINGS | DATES

CLAUSE_OPENERS = words(
    "who whom whose which that where when while because though although if unless "
    "whether than why how what so until since before after as and but or nor then to "
    "for"
)
FORMS_OF_BE = words("is was were are be been being am 'm 're")
AUXILIARIES = FORMS_OF_BE | words(
    "will would had has have can could should may might must shall did does do 've "
    "'ll 'd ca wo sha ai"
)
COPULAS = FORMS_OF_BE | words(
    "'s become becomes became remain remains remained called named as elected appointed"
)
# What follows "her" where it is an object: "saw her again", "told her that ..."
AFTER_OBJECTS = PREPOSITIONS | CLAUSE_OPENERS | AUXILIARIES
AFTER_OBJECTS |= words(
    "not again too there here now once alone away anyway today yesterday tomorrow"
)
# But "her past", "her being late", "her will"
AFTER_OBJECTS -= words(
    "past down inside outside opposite like such following being do will might can must"
)
# At the end of a clause these are no nouns that she could have: "swallowed her whole"
COMPLEMENTS = words(
    "whole alive dead mad crazy free warm cold dry safe sick ill sad angry happy busy "
    "alight awake asleep afraid naked unconscious innocent guilty responsible famous "
    "rich poor gone taken hurt later upstairs downstairs inside outside abroad indoors "
    "outdoors everywhere anywhere somewhere nowhere halfway twice once hard tight "
    "first last back goodbye seriously straight apart together ashore aboard aside"
)
TIMES = words(
    "second seconds minute minutes hour hours day days week weeks month months year "
    "years decade decades age ages time times"
)
COMPLEMENTS |= words("seconds minutes hours days weeks months years decades ages")
PARTICIPLES = words("taught told given shown sent made done beaten stolen")
# "In her thirties", "a house of her own", "does his best", "on its way"
OWN_PHRASES = words("own best utmost way")
DECADES = words("teens twenties thirties forties fifties sixties seventies eighties")
DECADES |= words("nineties")
# After these, "her" and a noun may be two objects: "gave her flowers"
DITRANSITIVES = words(
    "give gives gave given giving get gets got getting tell tells told telling show "
    "shows showed shown showing send sends sent sending bring brings brought "
    "bringing buy buys bought buying offer offers offered offering teach teaches "
    "taught ask asks asked asking lend lends lent pay pays paid paying hand hands "
    "handed handing pass passes passed throw threw make makes made making cook "
    "cooked find found read wrote write promise promised owe owed wish wished cost "
    "costs call calls called name named consider considered let lets help helps "
    "helped hear heard see saw watch watched feed feeds fed feeding pour poured "
    "pouring serve served serving grant granted deny denied spare spared elect elected "
    "appoint appointed forgive forgave forgiven bet refuse refused"
)
# After "it is", nothing is meant
WEATHER = words(
    "dark rains rained snows snowed raining snowing pouring freezing windy sunny foggy "
    "cloudy morning noon dawn dusk evening night midnight monday tuesday wednesday "
    "thursday friday saturday sunday"
)
# Nor is it where "that" or "to" follows
JUDGEMENTS = words(
    "clear likely unlikely possible impossible important true obvious hard easy "
    "difficult necessary best better good bad sad strange nice time wrong right useful "
    "common rare safe dangerous enough"
)
# "It seems that", "it turns out that"
SEEMING = words(
    "seem seems seemed appear appears appeared turns turned happens happened"
)
# After "her", these may belong to a noun or to the verb: "loved her very much"
# and "drove her home"
DEGREES = words(
    "very more much most less least well better best even just still ever home"
)
# Before a subject, these are the same with any: "did they go", "did Ann go"
INVARIANT_AUXILIARIES = words(
    "did had will would can could should may might must shall"
)
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


def third_person(verb: str) -> str:
    """A verb in the present as it stands with "he": "wants", "tries", "goes"."""
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")
