import pytest
import spacy
from marked import marked
from spacy import displacy
from spacy.tokens import Span

from refreader_spacy.annotation.entities import entities
from refreader_spacy.annotation.extensions import write_clusters
from refreader_spacy.decoding.clusters import Cluster, Link, Mention

APPLE, IT = Mention(0, 2, 0, 0, "place"), Mention(4, 5, 4, 0, "place")


@pytest.mark.parametrize(
    ("text", "main"),
    [
        ("[a:He] saw [a:the man] and [a:Ahab].", "Ahab"),
        ("[a:Jones], [a:Mary Jones], [a:Mary] and [a:she]", "Mary Jones"),
        ("[a:Ahab], [a:Captain Ahab] and [a:the captain]", "Captain Ahab"),
        ("[a:Dr. Smith] and [a:Alan Smith]", "Alan Smith"),
        ("[a:she] and [a:a girl] and [a:the girl]", "a girl"),
        ("[a:he] and [a:him]", "he"),
        ("[a:nobody] and [a:he]", "nobody"),
        ("[a:the President] and [a:Lincoln]", "Lincoln"),
        ("[a:Ludwig van Beethoven] and [a:Beethoven]", "Ludwig van Beethoven"),
        (
            "[a:Moby Dick] and [a:Ahab] and [a:Ahab] and [a:Captain Ahab]",
            "Captain Ahab",
        ),
        ("[a:Ann Lee, a nurse,] and [a:Ann Lee]", "Ann Lee"),
        ("[a:Ann Lee] and " + "[a:Lee] and " * 30 + "[a:Poor Lee]", "Ann Lee"),
        ("[a:Lee] and " * 30 + "[a:Poor Lee]", "Lee"),
        ("[a:Lee] and " * 30 + "[a:Mr. Lee]", "Lee"),
        ("[a:Sperm Whale]-teeth of [a:the Sperm Whale]", "the Sperm Whale"),
    ],
)
def test_the_main_mention_says_most(text, main):
    (entity,) = entities(marked(text))
    assert entity.main.text == main


def test_an_entity_is_all_that_is_said_of_it():
    doc = marked("[a:Ahab] ran. [b:Tom] saw [a:the captain]. [a:Ahab] hid [a:his] leg.")
    ahab, tom = entities(doc)
    assert (ahab.number, tom.number, len(ahab), len(tom)) == (1, 2, 4, 1)
    assert ahab.names == {"Ahab": 2, "the captain": 1}
    assert ahab.heads == [0, 6, 8, 10]
    assert (ahab.type, ahab.kb_id) == ("", "")


def test_named_entities_give_types_and_ids():
    doc = spacy.blank("en")("Apple Inc. said that it sold Apple pies.")
    doc.ents = [
        Span(doc, 0, 2, label="ORG", kb_id="Q312"),
        Span(doc, 6, 7, label="PRODUCT", kb_id="Q89"),
    ]
    cluster = Cluster([APPLE, IT], [Link(APPLE, IT, 0.9)])
    write_clusters(doc, [cluster])
    assert {(s.label_, s.kb_id_) for s in doc.spans["coref_clusters_1"]} == {
        ("organization", "Q312")
    }
    (entity,) = entities(doc)
    assert (entity.type, entity.kb_id) == ("organization", "Q312")
    assert doc.ents[0]._.coref_cluster == entity.mentions
    assert doc.ents[1]._.coref_cluster is None


def test_an_entity_rulers_ids_are_knowledge_base_ids():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "ORG", "pattern": "Apple Inc.", "id": "Q312"}])
    doc = nlp("Apple Inc. said that it sold Apple pies.")
    write_clusters(doc, [Cluster([APPLE, IT], [Link(APPLE, IT, 0.9)])])
    (entity,) = entities(doc)
    assert (entity.type, entity.kb_id) == ("organization", "Q312")


def test_displacy_draws_a_cluster():
    doc = spacy.blank("en")("Apple Inc. said that it sold Apple pies.")
    labelled = [mention._replace(label="organization") for mention in (APPLE, IT)]
    write_clusters(doc, [Cluster(labelled, [Link(*labelled, 0.9)])])
    key = "coref_clusters_1"
    html = displacy.render(doc, "span", jupyter=False, options={"spans_key": key})
    assert html.count("organization") == 2
    assert {(span.label_, span.id_) for span in doc.spans[key]} == {
        ("organization", "1")
    }


def test_named_entities_that_came_later_give_types_as_well():
    doc = marked("[a:Apple] said [a:it] grew.")
    doc.ents = [Span(doc, 0, 1, label="COMPANY", kb_id="Q312")]
    (entity,) = entities(doc)
    assert (entity.type, entity.kb_id) == ("COMPANY", "Q312")


def test_a_readers_type_is_kept():
    doc = spacy.blank("en")("Apple Inc. said that it grew.")
    write_clusters(doc, [Cluster([APPLE, IT], [])])
    assert entities(doc)[0].type == "place"
    assert doc.spans["coref_clusters_1"].attrs["heads"] == [0, 4]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("[a:White House] fell. [a:It] burnt. See the White House.", (0, 2), True),
        ("The [a:White House] fell. [a:It] burnt.", (0, 3), True),
        ("[a:Dr. Smith] came. [a:He] sat.", (1, 2), True),
        ("[a:Smith] came. [a:Smith]'s hat fell.", (3, 5), True),
        ("Ann told [a:Tom] that [a:he] left.", (0, 3), False),
        ("[a:Smith's wife] left. [a:She] wept.", (0, 2), False),
        ("[a:the man in the car] left. [a:He] wept.", (3, 5), False),
    ],
)
def test_a_span_with_the_same_head_has_the_same_cluster(text, words, found):
    doc = marked(text)
    assert (doc[slice(*words)]._.coref_cluster is not None) == found
