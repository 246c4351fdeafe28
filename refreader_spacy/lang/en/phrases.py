"""English noun phrases: which words they have, and what they become elsewhere."""

from __future__ import annotations

import re

from refreader_spacy.lang.en.words import PREPOSITIONS, words

INDEFINITES = words("a an some")
# A phrase that begins so means nobody in particular: "every man lost his hat"
QUANTIFIERS = words(
    "any each every no none neither either nobody everybody somebody anybody "
    "everyone someone anyone nothing everything something anything few many most "
    "several all half such whatever whoever what which whose how another enough more "
    "less"
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
    "not again too there here now once alone away today yesterday tomorrow"
)
# But "her past", "her being late"
AFTER_OBJECTS -= words("past down inside outside opposite like such following being do")
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
# After "it is", nothing is meant
WEATHER = words(
    "dark raining snowing pouring freezing windy sunny foggy cloudy morning noon dawn "
    "dusk evening night midnight monday tuesday wednesday thursday friday saturday "
    "sunday"
)
# Nor is it where "that" or "to" follows
JUDGEMENTS = words(
    "clear likely unlikely possible impossible important true obvious hard easy "
    "difficult necessary best better good bad sad strange nice time wrong right useful "
    "common rare safe dangerous enough"
)
# After "her", these may belong to a noun or to the verb: "loved her very much"
DEGREES = words("very more much most less least well better best even just still ever")
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
