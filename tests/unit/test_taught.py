"""Questions from biographies, and a teacher's answers."""

import sys

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

from refreader_spacy.cli.taught import report, taught
from refreader_spacy.extensions import write_trace
from refreader_spacy.model.types import Reading
from refreader_spacy.training.silver import Article
from refreader_spacy.training.taught import answered, questions

GIVEN = {"Greta": "F", "Edda": "F", "Karl": "M"}
FILLER = "The winter was long and cold in the north of the country that year . "
PARAGRAPH = (
    f"{FILLER}{FILLER}Greta Holm met Edda Berg in Oslo. Then she left the town, and "
    "Karl Lund wrote to her from the coast."
)


@pytest.fixture
def asked(nlp):
    articles = [Article("Ulla Dahl", [PARAGRAPH] * 3)] * 20
    return list(questions(nlp, articles, GIVEN, seed=0))


def test_a_question_is_a_pronoun_with_two_names_of_its_gender(asked):
    assert asked
    for question in asked:
        names = [" ".join(question.words[slice(*name)]) for name in question.names]
        assert names == ["Greta Holm", "Edda Berg"]
        assert question.words[question.pronoun] in {"she", "her"}
        assert 25 <= len(question.words) <= 170


def test_questions_are_the_same_for_a_seed(nlp, asked):
    articles = [Article("Ulla Dahl", [PARAGRAPH] * 3)] * 20
    assert list(questions(nlp, articles, GIVEN, seed=0)) == asked


class Teacher:
    """Links every pronoun to Greta and to Edda with these probabilities."""

    def __init__(self, greta, edda):
        self.links = greta, edda
        self.vocab = spacy.blank("en").vocab

    def pipe(self, docs, **_):
        for doc, context in docs:
            words = [token.text for token in doc]
            update, overwrite = np.zeros((2, len(doc), 2), np.float32)
            overwrite[words.index("Greta"), 0] = overwrite[words.index("Edda"), 1] = 1
            for i, word in enumerate(words):
                if word in {"she", "her"}:
                    update[i] = self.links
            write_trace(doc, Reading(update, overwrite, overwrite))
            yield doc, context


@pytest.mark.parametrize(
    ("link", "cluster"),
    [((0.5, 0.1), 1), ((0.1, 0.5), 2), ((0.0, 0.01), 3)],
    ids=["the first", "the second", "neither"],
)
def test_the_teacher_answers(nlp, asked, link, cluster):
    (doc,) = answered(nlp, Teacher(*link), 0.05, asked[:1])
    mentions = [span.text for span in doc.spans[f"coref_clusters_{cluster}"]]
    assert mentions[-1] in {"she", "her"}
    assert sum(len(group) for group in doc.spans.values()) == 3


@pytest.mark.parametrize("link", [(0.1, 0.0), (0.3, 0.29)], ids=["faint", "either"])
def test_what_it_is_not_sure_of_is_left_out(nlp, asked, link):
    assert list(answered(nlp, Teacher(*link), 0.05, asked)) == []


def test_few_answers_are_neither(nlp, asked):
    docs = list(answered(nlp, Teacher(0.0, 0.0), 0.05, asked))
    assert len(docs) == 1  # nothing else was answered


def test_a_report_says_how_many_of_what(nlp, asked):
    docs = list(answered(nlp, Teacher(0.5, 0.1), 0.05, asked[:2]))
    assert report(docs).startswith("the first name is meant: 2\n- ")
    assert "[1: Greta" in report(docs)


def test_without_biographies(tmp_path):
    with pytest.raises(ValueError, match="missing"):
        taught(tmp_path / "missing.txt", tmp_path, tmp_path / "out.spacy")


def test_answers_come_beside_other_rows(nlp, tmp_path, monkeypatch):
    articles = tmp_path / "some.txt"
    text = "= {} Vik =\nShe sang. She won. She left, and her song with her.\n"
    people = text.format("Greta") + text.format("Edda")
    articles.write_text(people * 6 + f"= Ulla Dahl =\n{PARAGRAPH}\n", "utf8")
    better = Teacher(0.5, 0.1)
    fake = type("Reader", (), {"trace": False, "threshold": 0.05})()
    command = sys.modules[taught.__module__]
    monkeypatch.setattr(command, "load_pipeline", lambda _: better)
    monkeypatch.setattr(command, "find_reader", lambda _: fake)
    DocBin(docs=[nlp("one"), nlp("two")]).to_disk(tmp_path / "rows.spacy")
    taught(articles, tmp_path, tmp_path / "o.spacy", add=tmp_path / "rows.spacy")
    made = list(DocBin().from_disk(tmp_path / "o.spacy").get_docs(nlp.vocab))
    assert fake.trace
    assert [doc.text for doc in made][-2:] == ["one", "two"]
    assert len(made) >= 3
