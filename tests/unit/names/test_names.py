"""The reader of names: what goes to which cell, by the definition and compiled."""

import re

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from refreader_spacy.names import reading, says
from refreader_spacy.names.memory import Cells, decide_plainly, empty
from refreader_spacy.names.network import Network
from refreader_spacy.names.reading import Weights
from refreader_spacy.names.words import IS_HE, IS_NAME, IS_SHE, kind_of, numbers_of
from refreader_spacy.protocol import Reading
from refreader_spacy.training.lesson import decisions_of, people_of
from refreader_spacy.training.shares import write_shares

TEXT = (
    "Marie Curie met Anna de Vries and Bo . Curie told her that he was late , and "
    "she left . In her youth Ada Quux sang . Bo and de Vries heard her ."
)
WIDTH, JUDGED, PRODUCTS = 6, 4, 1
N_SAID = 1 + 40 + 5 * JUDGED


def network(seed=0):
    torch.manual_seed(seed)
    sizes = {"width": WIDTH, "hidden_size": 8, "view_size": 7, "judged_size": JUDGED}
    made = Network(**sizes, dropout=0.0, learn_recurrence=False, products=PRODUCTS)
    torch.nn.init.uniform_(made.norm.running_mean, -0.1, 0.1)
    torch.nn.init.uniform_(made.norm.running_var, 0.5, 1.5)
    torch.nn.init.normal_(made.worth.weight)  # nobody's at first
    return made.eval()


def weights(n_cells=4, seed=0, gender_cost=2.0):
    parameters = {k: v.numpy() for k, v in network(seed).state_dict().items()}
    settings = {"n_cells": n_cells, "gender_cost": gender_cost}
    return Weights(parameters, **settings, products=PRODUCTS)


def doc_of(text=TEXT):
    return Doc(spacy.blank("en").vocab, words=text.split())


def vectors_of(doc, seed=0):
    drawn = np.random.default_rng(seed).standard_normal((len(doc), WIDTH))
    return np.concatenate([drawn.astype(np.float32), numbers_of(doc)], axis=1)


def gates_of(read):
    return np.stack([read.update, read.overwrite, read.salience])


def cells_of(read, doc):
    """Where each token went for the most part, by its place."""
    share = read.update + read.overwrite
    return {i: int(share[i].argmax()) for i in range(len(doc)) if share[i].any()}


def test_facts_that_nobody_learned_about_count_nothing():
    made = network()
    made.reset()
    said = made(torch.randn(5, WIDTH), batch_sizes=[1] * 5).said
    assert said[:, 0].any()
    assert not said[:, 1 : 1 + says.N_FACTS].any()


@pytest.mark.parametrize("n_cells", [1, 3, 16])
def test_compiled_decides_as_the_definition(n_cells, monkeypatch):
    doc = doc_of(" ".join([TEXT] * 5))
    vectors = vectors_of(doc)
    if reading.compiled is None:
        pytest.skip("nothing compiles here")
    quick = weights(n_cells).documents()
    found = gates_of(quick.read(vectors, [len(doc)]))
    monkeypatch.setattr(reading, "compiled", None)
    plain = weights(n_cells).documents()
    expected = gates_of(plain.read(vectors, [len(doc)]))
    assert expected.any()
    assert np.allclose(found, expected, atol=1e-5)
    for ours, theirs in zip(quick.state, plain.state, strict=True):
        assert np.allclose(ours, theirs, atol=1e-5)


def test_torch_says_the_same():
    doc = doc_of()
    vectors = vectors_of(doc)
    made = network()
    with torch.no_grad():
        tokens = torch.from_numpy(vectors[:, :WIDTH].copy())
        said = made(tokens, batch_sizes=[1] * len(doc)).said.numpy()
    expected = gates_of(weights().decide(said, vectors[:, WIDTH:]))
    found = gates_of(weights().documents().read(vectors, [len(doc)]))
    assert np.allclose(found, expected, atol=1e-5)


def test_documents_side_by_side_and_in_pieces_are_read_as_alone():
    docs = [doc_of(" ".join([TEXT] * n)) for n in (4, 2, 1)]
    vectors = [vectors_of(doc, seed) for seed, doc in enumerate(docs)]
    w = weights()
    lengths = [len(doc) for doc in docs]
    together = w.documents(w.start(3)).read(np.concatenate(vectors), lengths)
    alone = [gates_of(w.documents().read(v, [len(v)])) for v in vectors]
    assert np.allclose(gates_of(together), np.concatenate(alone, axis=1), atol=1e-5)

    whole, first = vectors[0], w.documents()
    begun = gates_of(first.read(whole[:23], [23]))
    rest = w.documents(first.state).read(whole[23:], [len(whole) - 23])
    pieces = np.concatenate([begun, gates_of(rest)], axis=1)
    assert np.allclose(pieces, alone[0], atol=1e-5)


def test_names_are_told_by_their_words():
    doc = doc_of()
    where = cells_of(weights(16).documents().read(vectors_of(doc), [len(doc)]), doc)
    texts = [token.text for token in doc]
    marie, anna, bo = texts.index("Marie"), texts.index("Anna"), texts.index("Bo")
    again = texts.index("Curie", marie + 2)
    assert where[marie] == where[marie + 1] == where[again]
    assert where[anna] == where[anna + 1] == where[anna + 2]  # Anna de Vries
    assert where[bo] == where[texts.index("Bo", bo + 1)]
    assert len({where[marie], where[anna], where[bo]}) == 3
    assert where[texts.index("Vries", anna + 3)] == where[anna]


def drawn(doc):
    """What tokens say, at random, and a judge."""
    draw = np.random.default_rng(1).standard_normal
    rows = draw((len(doc), N_SAID)).astype(np.float32)
    rows[:, 0] = -50.0  # nobody is new
    return rows, draw((42, JUDGED)).astype(np.float32)


def read_by_hand(text):
    """Cells after each token, and the gates."""
    doc = doc_of(text)
    cells = Cells(*(field[0] for field in weights().start()))
    rows, judge = drawn(doc)
    gates = np.zeros((3, len(doc), 4), np.float32)
    for i, (word, kind) in enumerate(numbers_of(doc).tolist()):
        cells.read(rows[i], judge, word, int(kind), gates[:, i])
    return cells, rows[:, -4 * JUDGED :].reshape(len(doc), 4, JUDGED), gates


def test_a_pronoun_asks_everybody():
    _, _, gates = read_by_hand("Ann met Bo and she left")
    assert gates[0, 4].sum() == pytest.approx(1, abs=1e-5)
    assert (gates[0, 4] > 0).sum() == 2


def test_a_cell_remembers_names_the_words_after_them_and_its_pronoun():
    text = "Ann Lee met Bo . Then Lee sang , and she left"
    cells, said, gates = read_by_hand(text)
    texts = text.split()
    lee, she = texts.index("Lee", 2), texts.index("she")
    ann = int(gates[0, lee].argmax())
    name, after, pronoun, first = cells.marks[ann]
    assert (name == said[lee, says.LATEST_NAME]).all()
    assert (after == said[lee + 1, says.AFTER_NAME]).all()
    assert (first == said[2, says.AFTER_FIRST]).all()
    meant = cells.marks[int(gates[0, she].argmax()), says.LATEST_PRONOUN]
    assert (meant == said[she, says.LATEST_PRONOUN]).all()
    assert pronoun.any() == (int(gates[0, she].argmax()) == ann)


def test_whom_a_pronoun_meant_is_a_fact_for_the_next():
    cells, _, gates = read_by_hand("Ann met Bo . Then she")
    who = int(gates[0, 5].argmax())
    facts = cells.facts_now(*numbers_of(doc_of("she"))[0].astype(int).tolist())
    assert facts[who, [says.MEANT, says.LATEST, says.LATEST_MEANT]].all()
    assert facts[who, says.SAME_WORD] == 1
    assert not facts[1 - who, says.MEANT :].any()


def test_another_gender_costs():
    doc = doc_of("Mary met John and she left")
    free, dear = (
        weights(gender_cost=cost).documents().read(vectors_of(doc), [len(doc)])
        for cost in (0.0, 1.0)
    )
    mary, john = (int(free.overwrite[i].argmax()) for i in (0, 2))
    odds = [read.update[4, john] / read.update[4, mary] for read in (free, dear)]
    assert odds[1] == pytest.approx(odds[0] / np.e, rel=1e-4)


@pytest.mark.parametrize("fast", [True, False])
def test_two_people_of_a_gender_without_a_name_are_one(fast, monkeypatch):
    if not fast:
        monkeypatch.setattr(reading, "compiled", None)
    doc = doc_of("He sang and she heard him , and his hat fell on her hat .")
    said = np.zeros((len(doc), N_SAID), np.float32)
    said[:, 0] = 10  # everybody says that it is somebody new
    read = weights().decide(said, numbers_of(doc))
    cells = cells_of(read, doc)
    assert cells == {0: 0, 3: 1, 5: 0, 8: 0, 12: 1}
    assert read.overwrite.sum() == pytest.approx(2, abs=1e-3)
    words = numbers_of(doc_of("Bo sang and he heard him ."))
    named = weights().decide(said[: len(words)], words)
    assert np.flatnonzero(named.overwrite.sum(axis=1) > 0.5).tolist() == [0, 3]


def test_who_was_named_longest_ago_makes_room():
    doc = doc_of("Ann Bo".replace(" ", " and ") + " and Cy and Ann")
    read = weights(2).documents().read(vectors_of(doc), [len(doc)])
    assert read.overwrite[4].argmax() == read.overwrite[0].argmax()  # Cy for Ann
    assert read.overwrite[6].argmax() == read.overwrite[2].argmax()  # Ann for Bo


@pytest.mark.parametrize(
    ("word", "kind"),
    [("Mary", IS_NAME | IS_SHE), ("John", IS_NAME | IS_HE), ("Quux", IS_NAME)],
)
def test_given_names_tell_gender(word, kind):
    assert kind_of(word) == kind


@pytest.mark.parametrize("word", ["The", "March", "house", "12", "A", "it"])
def test_not_everything_is_a_name(word):
    assert not kind_of(word) & IS_NAME


def test_who_is_who():
    doc = doc_of()
    people = people_of(numbers_of(doc))
    named = {i: people[i] for i in range(len(doc)) if people[i] >= 0}
    assert named[0] == named[1] == people[[t.text for t in doc].index("Curie", 2)]
    assert len(set(named.values())) == 4


def example_of(text, clusters):
    doc = doc_of(text)
    for number, mentions in enumerate(clusters, start=1):
        spans = [doc[start:end] for start, end in mentions]
        doc.spans[f"coref_clusters_{number}"] = spans
    return Example(doc_of(text), doc)


def named(decision):
    """The tokens whose names are in the cells that are right."""
    marks = decision.marks[:, says.LATEST_NAME]
    return marks[decision.share[:-1] > 0].tolist()


def test_a_lesson_says_whom_the_pronoun_means():
    example = example_of("Ann met Bo and she left", [[(0, 1), (4, 5)], [(2, 3)]])
    (made,) = decisions_of(example, "coref_clusters", 4)
    assert made.token == 4
    assert named(made) == [0]
    assert made.open.sum() == 2
    assert not made.share[-1]


def test_a_lesson_about_neither():
    example = example_of(
        "Ann met Bo and Cy when she left", [[(0, 1)], [(2, 3)], [(6, 7)]]
    )
    (made,) = decisions_of(example, "coref_clusters", 4)
    assert named(made) == [4]  # Cy isn't ruled out
    assert made.share[-1]


def test_a_lesson_about_a_name_that_comes_after_its_pronoun():
    example = example_of(
        "Bo knew when she left that Ann sang", [[(3, 4), (6, 7)], [(0, 1)]]
    )
    pronoun, name = decisions_of(example, "coref_clusters", 4)
    assert (pronoun.token, name.token) == (3, 6)
    assert pronoun.share.tolist() == [0] * 4 + [1]
    assert named(name) == [3]


def taught(example, shares):
    """The same example, with a teacher's word for the pronouns of two people."""
    reference = example.reference
    read = Reading(*np.zeros((3, len(reference), 4), np.float32))
    for token, (first, second, new) in shares.items():
        read.update[token, :2] = first, second
        read.overwrite[token, 2] = new
    write_shares(reference, read)
    return example


def test_a_teacher_says_how_probably_each_is_meant():
    example = example_of("Ann met Bo when she left for her home", [])
    taught(example, {4: (0.25, 0.5, 0.25), 7: (0.75, 0.25, 0)})
    first, second = decisions_of(example, "coref_clusters", 4)
    assert (first.token, second.token) == (4, 7)
    assert first.share.tolist() == [0.25, 0.5, 0, 0, 0.25]
    assert not first.certain
    assert second.facts[1, says.MEANT]  # as the teacher's best guess has it
    assert not second.facts[0, says.MEANT]


def test_gold_counts_more_than_a_teacher():
    example = example_of(
        "Ann met Bo when she left for her home", [[(0, 1), (4, 5)], [(2, 3)]]
    )
    taught(example, {4: (0.25, 0.5, 0.25), 7: (0.75, 0.25, 0)})
    first, second = decisions_of(example, "coref_clusters", 4)
    assert first.certain
    assert named(first) == [0]
    assert second.facts[0, says.MEANT]


def test_a_teacher_with_other_cells_is_an_error():
    example = taught(example_of("Ann met Bo when she left", []), {4: (1, 0, 0)})
    with pytest.raises(ValueError, match="4 cells can't teach a reader with 5"):
        decisions_of(example, "coref_clusters", 5)


def config(**settings):
    tok2vec = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 8,
        "attrs": ["NORM"],
        "rows": [200],
        "include_static_vectors": False,
    }
    sizes = {"width": 8, "hidden_size": 8, "view_size": 8, "judged_size": 4}
    architecture = {"@architectures": "refreader-spacy.NameReader.v1"}
    return {"model": {**architecture, "tok2vec": tok2vec, **sizes, **settings}}


@pytest.fixture
def names_nlp(nlp, examples):
    fix_random_seed(0)
    settings = {"dropout": 0.0, "learn_recurrence": True, "products": 2}
    nlp.add_pipe("refreader", config=config(**settings))
    nlp.initialize(lambda: examples)
    return nlp


def test_no_more_products_than_units(nlp):
    with pytest.raises(ValueError, match=r"R318.*judged_size.*from 0 to 4"):
        nlp.add_pipe("refreader", config=config(products=5))


def test_it_learns(names_nlp, examples):
    optimizer = Adam(0.01)
    losses = []
    for _ in range(60):
        found = {}
        names_nlp.update(examples, sgd=optimizer, losses=found)
        losses.append(found["refreader"])
    assert losses[-1] < 0.2 * losses[0]
    doc = names_nlp("Ann Lee met Bo because she was late.")
    assert [c.text for c in doc._.coref_clusters[0]] == ["Ann Lee", "she"]


def test_what_is_read_depends_on_nothing_that_follows(names_nlp):
    pipe = names_nlp.get_pipe("refreader")
    whole = names_nlp.make_doc(TEXT)
    (all_of_it,) = pipe.predict([whole])
    for length in (1, 7, 20):
        (part,) = pipe.predict([whole[:length].as_doc()])
        assert np.allclose(gates_of(part), gates_of(all_of_it)[:, :length], atol=1e-6)
    assert not pipe.lookahead


def test_plain_torch_reads_the_same(names_nlp):
    pipe = names_nlp.get_pipe("refreader")
    docs = [names_nlp.make_doc(TEXT), names_nlp.make_doc("Bo left."), names_nlp("")]
    for ours, theirs in zip(pipe.predict(docs), pipe.model.predict(docs), strict=True):
        assert np.allclose(gates_of(ours), gates_of(theirs), atol=1e-5)


def test_it_is_saved_and_loaded(names_nlp, tmp_path):
    names_nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    doc = names_nlp.make_doc(TEXT)
    (ours,) = names_nlp.get_pipe("refreader").predict([doc])
    (theirs,) = loaded.get_pipe("refreader").predict([loaded.make_doc(TEXT)])
    assert np.array_equal(gates_of(ours), gates_of(theirs))


def test_a_stream_is_saved_and_goes_on(names_nlp):
    from refreader_spacy.streaming.stream import Stream

    pipe = names_nlp.get_pipe("refreader")
    pipe.threshold = 0.1
    whole = pipe.stream()
    expected = [*whole.feed(TEXT), *whole.close()]
    first = pipe.stream()
    found = first.feed(TEXT[:50])
    second = Stream.from_bytes(names_nlp, first.to_bytes())
    found += [*second.feed(TEXT[50:]), *second.close()]
    assert [told(event) for event in found] == [told(event) for event in expected]


def told(event):
    """An event as text; a probability's last digits depend on where pieces end."""
    return re.sub(r"probability=[\d.]+", "", str(event))


def test_it_starts_from_a_language_model(reader_nlp, tmp_path):
    from refreader_spacy.training.start import create_start_from_callback

    reader_nlp.to_disk(tmp_path)
    fresh = spacy.blank("en")
    fresh.add_pipe("refreader", config=config())
    doc = fresh.make_doc(TEXT)
    fresh.get_pipe("refreader").model.initialize(X=[doc])
    create_start_from_callback(tmp_path)(fresh)
    source = reader_nlp.get_pipe("refreader").model.layers[-1].shims[0]._model
    network = fresh.get_pipe("refreader").model.layers[-1].shims[0]._model
    assert torch.equal(network.recurrence.weight_hh_l0, source.recurrence.weight_hh)
    ours = fresh.get_pipe("refreader").model.layers[0].layers[0].predict([doc])[0]
    theirs = reader_nlp.get_pipe("refreader").model.layers[0].predict([doc])[0]
    assert np.allclose(ours, theirs)


def test_nothing_is_decided_where_nobody_is_named():
    doc = doc_of("it rains , they say")
    state = empty(np.zeros(8, np.float32), 1, 4, JUDGED)
    said, judge = drawn(doc)
    gates = np.ones((3, len(doc), 4), np.float32)
    starts = np.array([0, len(doc)])
    decide_plainly(state, said, judge, numbers_of(doc), starts, gates)
    assert not gates.any()
