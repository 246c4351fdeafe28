import gc
import json
import pickle
import subprocess
import sys
import weakref

import catalogue
import numpy as np
import pytest
import spacy
import srsly
from marked import marked
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup, Token

from refreader_spacy.annotation.extensions import (
    CorefLink,
    read_trace,
    register_extensions,
    write_clusters,
    write_trace,
)
from refreader_spacy.annotation.parts import as_doc
from refreader_spacy.decoding.clusters import Cluster, Link, Mention
from refreader_spacy.protocol import Reading

TEXT = "Ismael told Captain Ahab he saw Moby-Dick."
ISMAEL = Cluster([Mention(0, 1, 0, 0)], [])
AHAB, HE = Mention(2, 4, 3, 1), Mention(4, 5, 4, 1)
CAPTAIN = Cluster([AHAB, HE], [Link(AHAB, HE, 0.7123456789)])


@pytest.fixture
def doc():
    doc = spacy.blank("en")(TEXT)
    write_clusters(doc, [ISMAEL, CAPTAIN], keep_singletons=True)
    return doc


@pytest.fixture
def trace():
    rng = np.random.default_rng(0)
    return Reading(*rng.random((3, 9, 2), dtype=np.float32))


def offsets(spans):
    return [(span.start, span.end) for span in spans]


def seen(doc):
    """What a user reads off a Doc, in a form that can be compared across Docs."""

    def offsets(spans):
        return [(span.start, span.end, span.label_, span.id_) for span in spans]

    return (
        [offsets(cluster) for cluster in doc._.coref_clusters],
        [(*offsets(link[:2]), link.probability) for link in doc._.coref_links],
        doc._.resolved_text,
        [[offsets(cluster) for cluster in token._.coref_clusters] for token in doc],
        {key: offsets(group) for key, group in doc.spans.items()},
    )


def to_bytes_and_back(doc, path):
    return Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())


def to_disk_and_back(doc, path):
    doc.to_disk(path / "doc")
    return Doc(spacy.blank("en").vocab).from_disk(path / "doc")


def through_doc_bin(doc, path):
    data = DocBin(docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))


def through_doc_bin_with_user_data(doc, path):
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))


def pickled(doc, path):
    return pickle.loads(pickle.dumps(doc))


def copied(doc, path):
    return doc.copy()


def test_clusters_are_read_off_the_doc(doc):
    ismael, captain = doc._.coref_clusters
    assert [offsets(ismael), offsets(captain)] == [[(0, 1)], [(2, 4), (4, 5)]]
    assert doc._.coref_links == [CorefLink(*captain, 0.7123456789)]
    assert doc._.resolved_text == "Ismael told Captain Ahab he saw Moby-Dick."
    assert doc[3]._.coref_clusters == doc[4]._.coref_clusters == [captain]
    assert doc[5]._.coref_clusters == []
    assert doc[2:4]._.coref_cluster == doc[3:4]._.coref_cluster == captain
    assert doc[1:4]._.coref_cluster is None
    assert doc[4:5]._.coref_main == captain[0]
    assert doc[5:6]._.coref_main is None
    assert list(doc.spans["coref_clusters_2"]) == captain
    assert [span.id_ for span in captain] == ["2", "2"]


def test_a_name_without_its_title_is_in_the_same_cluster():
    """Whichever of a name's words the reader took for its head."""
    doc = spacy.blank("en")("Dr. Ann Lee-Orr lost her cat.")
    doc.spans["coref_clusters_1"] = [doc[0:5], doc[6:7]]
    for head in (1, 2, 4):
        doc.spans["coref_clusters_1"].attrs["heads"] = [head, 6]
        assert doc[1:5]._.coref_main == doc[0:5]
    assert doc[2:3]._.coref_cluster is None
    assert doc[6:8]._.coref_cluster is None


def test_a_doc_that_was_never_read_has_nothing_to_say():
    doc = spacy.blank("en")(TEXT)
    assert seen(doc) == ([], [], TEXT, [[]] * len(doc), {})
    assert doc[0:1]._.coref_cluster is None
    assert read_trace(doc) is None


def test_an_entity_ends_with_what_its_mention_leaves_out():
    doc = marked("[a:Acme] Inc. lost [a:its] sign. [b:Tom Lee], Jr., saw [a:it].")
    acme, tom = doc._.coref_clusters[0], doc[6:10]
    assert doc[0:2]._.coref_cluster == acme
    assert tom.text == "Tom Lee, Jr."
    assert tom._.coref_cluster == doc._.coref_clusters[1]
    assert doc[1:2]._.coref_cluster is None


def test_an_empty_doc_can_be_written_and_read():
    doc = spacy.blank("en")("")
    write_clusters(doc, [])
    write_trace(doc, Reading(*np.zeros((3, 0, 2), dtype=np.float32)))
    doc = to_bytes_and_back(doc, None)
    assert seen(doc)[:3] == ([], [], "")
    assert read_trace(doc).update.shape == (0, 2)


def test_singletons_are_left_out_unless_kept(doc):
    write_clusters(doc, [ISMAEL, CAPTAIN])
    assert list(map(offsets, doc._.coref_clusters)) == [[(2, 4), (4, 5)]]
    assert set(doc.spans) == {"coref_read", "coref_links", "coref_clusters_1"}


def test_writing_again_replaces_what_was_written(doc):
    doc.spans["coref_clusters_of_mine"] = [doc[0:1]]
    write_clusters(doc, [])
    assert doc._.coref_clusters == doc._.coref_links == []
    assert set(doc.spans) == {"coref_read", "coref_clusters_of_mine"}


def test_another_prefix_is_found_by_the_getters(doc, tmp_path):
    write_clusters(doc, [CAPTAIN], prefix="who")
    assert offsets(doc.spans["who_1"]) == [(2, 4), (4, 5)]
    for other in (doc, to_bytes_and_back(doc, tmp_path), Doc.from_docs([doc, doc])):
        assert offsets(other._.coref_clusters[0]) == [(2, 4), (4, 5)]


def test_gold_clusters_are_read_as_they_are():
    doc = spacy.blank("en")(TEXT)
    doc.spans["coref_clusters_7"] = [doc[4:5], doc[2:4]]
    doc.spans["coref_clusters_9"] = SpanGroup(doc, spans=[doc[3:4], doc[0:1]])
    assert doc._.coref_clusters == [[doc[0:1], doc[3:4]], [doc[2:4], doc[4:5]]]
    assert doc[3]._.coref_clusters == doc._.coref_clusters
    assert doc._.coref_links == []


def test_a_change_of_span_groups_is_seen_at_once(doc):
    assert doc[5]._.coref_clusters == []
    doc.spans["coref_clusters_1"].append(doc[5:6])
    assert list(map(offsets, doc[5]._.coref_clusters)) == [[(0, 1), (5, 6)]]
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[6:7]]
    assert doc[5]._.coref_clusters == []
    del doc.spans["coref_clusters_1"]
    assert doc[0]._.coref_clusters == []


def test_new_clusters_are_seen_among_many_groups(doc):
    for number in range(3, 600):
        doc.spans[f"coref_clusters_{number}"] = [doc[6:7]]
    assert len(doc._.coref_clusters) == 599
    write_clusters(doc, [CAPTAIN])
    assert list(map(offsets, doc._.coref_clusters)) == [[(2, 4), (4, 5)]]


def test_reading_clusters_keeps_no_doc_alive():
    doc = spacy.blank("en")(TEXT)
    write_clusters(doc, [CAPTAIN])
    assert doc[4]._.coref_clusters
    alive = weakref.ref(doc)
    del doc
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    "round_trip",
    [
        to_bytes_and_back,
        to_disk_and_back,
        through_doc_bin,
        through_doc_bin_with_user_data,
        pickled,
        copied,
    ],
)
def test_a_round_trip_changes_nothing(doc, trace, round_trip, tmp_path):
    write_trace(doc, trace)
    other = round_trip(doc, tmp_path)
    assert seen(other) == seen(doc)
    for name in ("update", "overwrite", "salience"):
        found = getattr(read_trace(other), name)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, getattr(trace, name))


def test_two_processes_change_nothing(doc):
    @Language.component("test_extensions_writer")
    def write(doc):
        write_clusters(doc, [ISMAEL, CAPTAIN], keep_singletons=True)
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("test_extensions_writer")
    docs = nlp.pipe([TEXT, TEXT], n_process=2, batch_size=1)
    assert [seen(other) for other in docs] == [seen(doc)] * 2


def test_joined_docs_keep_their_clusters_apart(doc, trace):
    write_trace(doc, trace)
    empty = spacy.blank("en")("")
    empty = Doc(doc.vocab).from_bytes(empty.to_bytes())
    joined = Doc.from_docs([doc, empty, doc])
    clusters = doc._.coref_clusters
    assert [[span.text for span in cluster] for cluster in joined._.coref_clusters] == [
        [span.text for span in cluster] for cluster in clusters * 2
    ]
    links = [(*map(str, link[:2]), link.probability) for link in joined._.coref_links]
    assert links == [("Captain Ahab", "he", 0.7123)] * 2
    assert read_trace(joined) is None
    assert joined._.resolved_text == " ".join([doc._.resolved_text] * 2)


def test_what_only_begins_with_a_pronoun_is_not_its_entity():
    words = ["Mary", "slept", "Tom", "met", "her", "last", "week"]
    heads = [1, 1, 3, 1, 3, 6, 3]
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words, heads=heads, deps=["dep"] * 7, pos=["NOUN"] * 7)
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[4:5]]
    assert doc[4:5]._.coref_cluster is not None
    assert doc[4:7].root.i == 4
    assert doc[4:7]._.coref_cluster is None


def test_json_keeps_clusters_and_links(doc, trace):
    write_trace(doc, trace)
    data = json.loads(json.dumps(doc.to_json()))
    other = Doc(spacy.blank("en").vocab).from_json(data)
    assert list(map(offsets, other._.coref_clusters)) == [[(0, 1)], [(2, 4), (4, 5)]]
    assert [link.probability for link in other._.coref_links] == [0.7123]
    assert other._.resolved_text == doc._.resolved_text


def test_a_part_of_a_doc_keeps_clusters_and_links(doc):
    part = as_doc(doc[2:6])
    assert part.text == "Captain Ahab he saw "
    assert list(map(offsets, part._.coref_clusters)) == [[(0, 2), (2, 3)]]
    assert [link.probability for link in part._.coref_links] == [0.7123456789]
    assert list(map(offsets, as_doc(doc[:4])._.coref_clusters)) == [[(0, 1)]]


def test_an_old_trace_goes_when_clusters_are_written(doc, trace):
    write_trace(doc, trace)
    write_clusters(doc, [])
    assert read_trace(doc) is None


def test_names_that_others_took_are_left_to_them(doc):
    ours = Doc.remove_extension("resolved_text")
    Doc.set_extension("resolved_text", default="theirs")
    try:
        register_extensions()
        assert doc._.resolved_text == "theirs"
    finally:
        Doc.set_extension("resolved_text", getter=ours[2], force=True)
    assert doc._.resolved_text.startswith("Ismael told Captain Ahab he")
    assert Token.has_extension("coref_clusters")
    assert Span.has_extension("coref_cluster")


def test_names_are_free_until_a_reader_is_made() -> None:
    """Every pipeline in the environment imports us, and may have the same names."""
    code = (
        "import spacy, refreader_spacy; from spacy.tokens import Doc; "
        "spacy.blank('en'); Doc.set_extension('resolved_text', default='mine')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registries_of_other_packages_stay_as_they_are():
    register_extensions()
    for registry in (srsly.msgpack_encoders, srsly.msgpack_decoders):
        assert type(registry) is catalogue.Registry
        assert registry.entry_points
