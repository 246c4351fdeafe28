"""Questions from biographies, and a teacher's answers."""

import sys
from contextlib import suppress

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Example

from refreader_spacy.annotation.extensions import write_trace
from refreader_spacy.cli.taught import report, taught
from refreader_spacy.corpora.biographies import Article
from refreader_spacy.protocol import Reading
from refreader_spacy.training.shares import read_shares
from refreader_spacy.training.taught import teach, windows

GIVEN = {"Greta": "F", "Edda": "F", "Karl": "M"}
FILLER = "The winter was long and cold in the north of the country that year . "
PARAGRAPH = (
    f"{FILLER}{FILLER}Greta Holm met Edda Berg in Oslo. Then she left the town, and "
    "Karl Lund wrote to her from the coast."
)


@pytest.fixture
def asked(nlp):
    articles = [Article("Ulla Dahl", [PARAGRAPH] * 3)] * 20
    return list(windows(nlp, articles, GIVEN, seed=0))


def test_a_window_has_a_pronoun_and_two_names_of_its_gender(asked):
    assert asked
    for doc in asked:
        assert "Greta Holm met Edda Berg" in doc.text
        assert {"she", "her"} & {token.text for token in doc}
        assert 25 <= len(doc) <= 170


def test_windows_are_the_same_for_a_seed(nlp, asked):
    articles = [Article("Ulla Dahl", [PARAGRAPH] * 3)] * 20
    again = windows(nlp, articles, GIVEN, seed=0)
    assert [doc.text for doc in again] == [doc.text for doc in asked]


class Teacher:
    """Says of every pronoun how probably it means Greta, Edda and somebody new."""

    def __init__(self, greta, edda):
        self.links = greta, edda
        self.vocab = spacy.blank("en").vocab
        self.meta = {"name": "teacher"}

    def pipe(self, docs, **_):
        for doc, context in docs:
            words = [token.text for token in doc]
            update, overwrite = np.zeros((2, len(doc), 4), np.float32)
            for cell, name in enumerate(["Greta", "Edda"]):
                if name in words:
                    overwrite[words.index(name), cell] = 1
            for i, word in enumerate(words):
                if word in {"she", "her"}:
                    update[i, :2] = self.links
                    overwrite[i, 3] = 1 - sum(self.links)
            write_trace(doc, Reading(update, overwrite, overwrite))
            yield doc, context


@pytest.mark.parametrize("links", [(0.5, 0.25), (0.25, 0.75), (0.0, 0.0), (1.0, 0.0)])
def test_what_the_teacher_says_is_kept(nlp, asked, links):
    (doc,) = teach(Teacher(*links), asked[:1])
    (doc,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    said = read_shares(Example(nlp.make_doc(doc.text), doc))
    pronouns = [token.i for token in doc if token.text in {"she", "her"}]
    assert sorted(said) == pronouns
    for share in said.values():
        assert share.tolist() == [*links, 0, 0, 1 - sum(links)]


def test_where_nobody_taught_nothing_was_said(nlp):
    assert read_shares(Example(nlp.make_doc("She left."), nlp("She left."))) == {}


def test_a_report_says_how_many_of_what(asked):
    docs = list(teach(Teacher(0.75, 0.25), asked[:2]))
    lines = report(docs).splitlines()
    assert lines[:4] == ["texts: 2", "choices: 4", "sure: 0", "somebody new: 0"]
    assert "she [Holm: 0.75] left" in lines[4]


def test_without_biographies(tmp_path):
    with pytest.raises(ValueError, match="missing"):
        taught(tmp_path / "missing.txt", tmp_path, tmp_path / "out.spacy")


@pytest.fixture
def articles(tmp_path):
    path = tmp_path / "some.txt"
    text = "= {} Vik =\nShe sang. She won. She left, and her song with her.\n"
    people = text.format("Greta") + text.format("Edda")
    path.write_text(people * 6 + f"= Ulla Dahl =\n{PARAGRAPH}\n", "utf8")
    return path


def test_examples_come_beside_other_rows(nlp, articles, tmp_path, monkeypatch):
    layer = type("Layer", (), {"name": "name_reader"})
    model = type("Model", (), {"layers": [layer]})
    fake = type("Reader", (), {"trace": False, "model": model})()
    command = sys.modules[taught.__module__]
    monkeypatch.setattr(command, "load_pipeline", lambda _: Teacher(0.5, 0.25))
    monkeypatch.setattr(command, "find_reader", lambda _: fake)
    DocBin(docs=[nlp("one"), nlp("two")]).to_disk(tmp_path / "rows.spacy")
    taught(articles, tmp_path, tmp_path / "o.spacy", add=tmp_path / "rows.spacy")
    made = list(DocBin().from_disk(tmp_path / "o.spacy").get_docs(nlp.vocab))
    assert fake.trace
    assert [doc.text for doc in made][-2:] == ["one", "two"]
    assert len(made) >= 3
    assert all("taught" in doc.spans for doc in made)
    assert not list(tmp_path.glob("*-parts"))


@pytest.mark.parametrize("trained_again", [False, True])
def test_an_interrupted_run_goes_on(trained_again, articles, tmp_path, monkeypatch):
    class Tired(Teacher):
        n_read = 0

        def pipe(self, docs, **_):
            for read in super().pipe(docs):
                self.n_read += 1
                yield read
                if self.n_read == 2 and self.links[0] == 0.5:
                    raise KeyboardInterrupt

    articles.write_text(articles.read_text("utf8") + f"{PARAGRAPH}\n" * 3, "utf8")
    layer = type("Layer", (), {"name": "name_reader"})
    fake = type("Reader", (), {"model": type("Model", (), {"layers": [layer]})})()
    command = sys.modules[taught.__module__]
    first, second = Tired(0.5, 0.25), Tired(0.25, 0.5)
    second.meta = {"name": "another"} if trained_again else first.meta
    monkeypatch.setattr(command, "PART", 1)
    monkeypatch.setattr(command, "find_reader", lambda _: fake)
    for who in (first, second):
        monkeypatch.setattr(command, "load_pipeline", lambda _, each=who: each)
        with suppress(KeyboardInterrupt):
            taught(articles, tmp_path, tmp_path / "o.spacy", limit=4)
    made = list(DocBin().from_disk(tmp_path / "o.spacy").get_docs(first.vocab))
    assert len(made) == 4
    # What the first had finished stays as it was, if it is the same teacher
    assert second.n_read == (4 if trained_again else 3)


def test_a_teacher_must_choose_among_people(reader_nlp, articles, tmp_path):
    reader_nlp.to_disk(tmp_path / "paper")
    with pytest.raises(ValueError, match="isn't a reader of names"):
        taught(articles, tmp_path / "paper", tmp_path / "o.spacy")
