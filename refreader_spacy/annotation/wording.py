"""English around what is replaced: articles, capitals, possessives, verbs."""

from __future__ import annotations

from spacy.tokens import Span, Token

from refreader_spacy.annotation.mentions import (
    Kind,
    is_break,
    is_clitic,
    is_inside_word,
    starts_sentence,
)
from refreader_spacy.annotation.short_forms import first_word, is_coordinated
from refreader_spacy.lang.en.heads import ADJECTIVES
from refreader_spacy.lang.en.phrases import (
    AFTER_OBJECTS,
    CLAUSE_OPENERS,
    COMPLEMENTS,
    DEGREES,
    DITRANSITIVES,
    INDEFINITES,
    INVARIANT_AUXILIARIES,
    INVARIANT_VERBS,
    JUDGEMENTS,
    PARTICIPLES,
    THIRD_PERSON,
    TIMES,
    UNCONTRACTED,
    third_person,
)
from refreader_spacy.lang.en.pronouns import (
    CASE_OF,
    POSSESSIVES,
    PRO_FORMS,
    PRONOUNS,
    Case,
)
from refreader_spacy.lang.en.words import (
    CLITICS,
    DATES,
    DETERMINERS,
    KIN,
    NUMERALS,
    PREPOSITIONS,
    Number,
    given_names,
    plain,
    words,
)

CAPITAL_ONLY_AT_START = (PRONOUNS | DETERMINERS) - {"i"}
# What may come after "'s" where that is "has", and where it is "is"
BEFORE_VERBS = words("already also always just never not now only really still")
HAS_ONLY = ("been", "got", "had")
IS_ONLY = ADJECTIVES | DETERMINERS | JUDGEMENTS | POSSESSIVES | PREPOSITIONS
IS_ONLY -= INVARIANT_VERBS | PARTICIPLES | {"since"}  # "he's left", "he's since left"
NEVER_POSSESSED = AFTER_OBJECTS | DETERMINERS | PRONOUNS


def with_article(text: str, words: Span, kind: Kind, entity_type: str) -> str:
    """The same as something known: "a man" is now "the man", "an NGO" "the NGO"."""
    first = first_word(words)
    if kind >= Kind.NAME and not (first in ("a", "an") and len(words) == 2):
        return text
    if first in INDEFINITES and " " in text:
        return "the " + text.split(" ", 1)[1]
    if first in NUMERALS or (words[0].like_num and len(words) > 1):
        return "the " + text[0].lower() + text[1:]
    if is_called_so(entity_type, words):
        return text
    is_bare = words.text[:1].islower() and not (
        first in DETERMINERS | POSSESSIVES or any(map(is_clitic, words))
    )
    return "the " + text if is_bare and not is_coordinated(words) else text


def is_number(token: Token) -> bool:
    return token.like_num or plain(token.text) in ("percent", "%")


def is_called_so(entity_type: str, words: Span) -> bool:
    """Is it a name without its capital, or like one: "tom", "mom"?"""
    word = words.text.title()
    return plain(word) in KIN or (entity_type == "person" and word in given_names())


def in_case(text: str, words: Span, place: Token) -> str:
    """Text that was said in these words, as it is written in a token's place."""
    if needs_capital(place):
        return text[0].upper() + text[1:] if text.split()[0].islower() else text
    small = DETERMINERS | POSSESSIVES
    if len(words) > 1 and words[1].like_num:
        small |= PREPOSITIONS  # "about 200 people"
    if first_word(words) in small and starts_sentence(words[0]):
        if plain(text.split()[0]) not in small:  # "Her sister" is "Ann's sister" by now
            return text
        return text[0].lower() + text[1:]  # but it stays in a name: "in The Hague"
    return text


def needs_capital(token: Token) -> bool:
    """A word that is only capital at a sentence's start shows it; other words don't."""
    if plain(token.text) in CAPITAL_ONLY_AT_START:
        return bool(token.text[:1].isupper())
    return starts_sentence(token)


def is_possessive(mention: Span) -> bool | None:
    """Is it "his", an "her" that isn't an object, or "the captain's"? None: unsure."""
    last = mention[-1]
    if is_clitic(last):
        return True
    if len(mention) > 1:
        return False
    case = CASE_OF.get(plain(last.text))
    if case != Case.AMBIGUOUS:
        return case == Case.POSSESSIVE
    if last.i + 1 == len(last.doc):
        return False
    following = last.nbor()
    if last.tag_ or last.morph:
        tagged = last.tag_ == "PRP$" or "Yes" in last.morph.get("Poss", [])
        return None if tagged and is_after_object(following) else tagged
    if is_inside_word(last.doc[min(last.i + 2, len(last.doc) - 1)]):
        return True  # "her on-screen husband"
    if following.is_punct and following.text not in ('"', "“", "'", "‘"):  # noqa: RUF001
        return False
    if following.is_space or plain(following.text) in NEVER_POSSESSED:
        return False
    before = plain(last.nbor(-1).text) if last.i else ""
    unsure = (
        following.is_punct
        or before in DITRANSITIVES
        or plain(following.text) in PRO_FORMS | DEGREES | DATES
        or following.text.endswith("ly")
        or not any(char.isalnum() for char in following.text)
        or is_after_object(following)
        or (following.text.endswith("ing") and is_after_verb(last))
    )
    return None if unsure else True


def is_after_object(token: Token) -> bool:
    """Can it say more of an object: "drove her mad", "had her killed"?"""
    word = plain(token.text)
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    if after is not None and plain(after.text) in TIMES:  # "two hours", "next day"
        return word in NUMERALS | {"next", "last"} or word.isdigit()
    ends = (
        after is None
        or is_break(after)
        or after.is_space
        or plain(after.text) in PREPOSITIONS | CLAUSE_OPENERS | {"ago"}
    )
    is_participle = len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
    return word in PARTICIPLES or (
        ends and (word in COMPLEMENTS or is_participle or word.endswith("less"))
    )


def is_after_verb(token: Token) -> bool:
    """Nothing else comes before it but what begins a clause or a phrase."""
    before = token.doc[token.i - 1] if token.i else token
    word = plain(before.text)
    begins = before.is_punct or before.is_space or starts_sentence(token)
    return not begins and word not in PREPOSITIONS | CLAUSE_OPENERS


def possessive_ending(words: str, number: Number) -> str:
    """What to add: "Ahab's", "James's", but "the sailors'", and nothing twice."""
    if words.endswith(tuple(CLITICS)):
        return ""
    return "'" if number != Number.SINGULAR and words.endswith("s") else "'s"


def agreeing_verb(pronoun: Token, number: Number) -> tuple[str, int] | None:
    """What a verb becomes after a noun, and how many tokens that takes; None: unknown.

    After "they" with a plural noun, and after "he", "she" and "it", it stays. In "are
    they ill" the verb comes before, where it can't be changed.
    """
    word = plain(pronoun.text)
    if pronoun.i + 1 == len(pronoun.doc):
        return "", 0
    before = plain(pronoun.nbor(-1).text) if pronoun.i else ""
    verb = pronoun.nbor()
    found = plain(verb.text)
    if found == "'d":  # "Ahab'd" is nothing to read, and it may be "had" or "would"
        return None
    if found == "'s":
        return uncontracted_s(verb), 1
    if word in ("he", "she", "it") or number == Number.PLURAL:
        return (UNCONTRACTED[found], 1) if found in UNCONTRACTED else ("", 0)
    if before in INVARIANT_AUXILIARIES:
        return "", 0
    if before in THIRD_PERSON:
        return None
    if found in THIRD_PERSON:
        return THIRD_PERSON[found], 1
    if found in INVARIANT_VERBS or found.endswith("ed") or verb.tag_ in ("VBD", "MD"):
        return "", 0
    if verb.tag_ == "VBP":
        return " " + third_person(verb.text), 1
    return None


def uncontracted_s(clitic: Token) -> str:
    """What "'s" after a subject stands for; itself where that isn't known.

    Before "finished" or "come" it may be "is" as well as "has".
    """
    after = clitic.doc[clitic.i + 1 : clitic.i + 4]
    following = next((t for t in after if plain(t.text) not in BEFORE_VERBS), None)
    if following is None:
        return clitic.text
    word = plain(following.text)
    if word in HAS_ONLY:
        return " has"
    if word in IS_ONLY or word.endswith("ing") or following.tag_ == "JJ":
        return " is"
    return clitic.text
