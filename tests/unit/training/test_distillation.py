import numpy as np
import pytest
from spacy.tokens import DocBin
from typer.testing import CliRunner

from refreader_spacy.batching import read_docs
from refreader_spacy.cli import app
from refreader_spacy.corpora.gap import GAP_KEYS
from refreader_spacy.corpora.span_groups import SINGLE, gold_clusters
from refreader_spacy.decoding.clusters import Cluster, Mention
from refreader_spacy.protocol import reader_of
from refreader_spacy.reader.soft_labels import soft_labels_of
from refreader_spacy.training.distillation import label, soft_links, with_gap, without

TEXT = "Ann Lee met Bo Ray because she was late. "
PREFIX = "coref_clusters"


def gap_doc(nlp, a, b):
    doc = nlp.make_doc("Ann met Bea when she left.")
    for key, at in zip(GAP_KEYS, (4, 0, 2), strict=True):
        doc.spans[key] = [doc[at : at + 1]]
    for key, answer in zip(GAP_KEYS[1:], (a, b), strict=True):
        doc.spans[key].attrs["coref"] = answer
    return doc


def clusters(*groups):
    return [
        Cluster([Mention(at, at + 1, at, n) for at in group], [])
        for n, group in enumerate(groups)
    ]


def heads(found):
    return sorted([mention.head for mention in cluster.mentions] for cluster in found)


@pytest.mark.parametrize(
    ("a", "b", "said", "right"),
    [
        (True, False, [(0,), (2, 4)], [[0, 4], [2]]),  # moved to whom it means
        (False, True, [(0,), (2, 4)], [[0], [2, 4]]),  # was right
        (False, False, [(0,), (2, 4)], [[0], [2], [4]]),  # out of whom it doesn't
        (True, False, [(2,)], [[0, 4], [2]]),  # who was missed is added
    ],
)
def test_gap_corrects_the_teacher(nlp, a, b, said, right):
    assert heads(with_gap(gap_doc(nlp, a, b), clusters(*said))) == right


def test_a_link_to_the_beginning_of_a_name_is_one_to_what_that_links_to():
    links = [[], [(0, 0.5)], [(1, 0.8), (0, 0.1)], [(2, 1.0)]]
    assert without(links, {0, 1, 2, 3}) == links
    _, _, *rest = without(links, {0, 2, 3})
    assert rest == [[(0, pytest.approx(0.5))], [(2, 1.0)]]


def test_a_teacher_leaves_clusters_and_how_sure_it_was(reader_nlp):
    pipe = reader_nlp.get_pipe("refreader")
    doc = reader_nlp.make_doc(TEXT)
    (part,) = read_docs(pipe.model, [doc], gates=True)
    label(doc, part, reader_of(pipe.model), PREFIX)
    clusters = gold_clusters(doc, PREFIX)
    found = [head for cluster in clusters for head in cluster.attrs["heads"]]
    assert found
    (together,) = (group for key, group in doc.spans.items() if key.endswith(SINGLE))
    assert len(together) == sum(len(cluster.spans) == 1 for cluster in clusters)
    assert set(found) <= set(part.mentions.head.tolist())
    soft = soft_labels_of(doc)
    assert soft is not None
    assert len(soft.detection) == len(soft.links) == len(found)
    assert ((soft.detection >= 0) & (soft.detection <= 1)).all()
    for row in soft.links:
        assert sum(p for _, p in row) <= 1.01


def test_links_are_told_by_the_latest_mention_of_a_cell(reader_nlp):
    pipe = reader_nlp.get_pipe("refreader")
    (part,) = read_docs(pipe.model, [reader_nlp.make_doc(TEXT * 3)], gates=True)
    links = soft_links(part)
    entity = part.mentions.entity
    assert not part.mentions.is_new.all()
    for i in np.flatnonzero(~part.mentions.is_new):
        before = [j for j in range(i) if entity[j] == entity[i]]
        likely = max(links[i], key=lambda pair: pair[1])
        assert likely[0] == before[-1]


@pytest.fixture
def teacher(reader_nlp, tmp_path):
    reader_nlp.to_disk(tmp_path / "teacher")
    return str(tmp_path / "teacher")


def test_the_command_goes_on_where_it_stopped_in_any_number_of_processes(
    teacher, tmp_path
):
    source, out = tmp_path / "plain.txt", tmp_path / "out"
    source.write_text("\n\n".join([TEXT * 10] * 70), "utf8")
    arguments = ["distill", teacher, str(source), "-o", str(out), "--piece", "50"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    parts = sorted(out.glob("part-*.spacy"))
    assert len(parts) > 1
    before = [part.read_bytes() for part in parts]
    parts[-1].unlink()
    kept = parts[0].stat().st_mtime_ns
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert [part.read_bytes() for part in parts] == before
    assert parts[0].stat().st_mtime_ns == kept
    for part in parts:
        part.unlink()
    both = CliRunner().invoke(app, [*arguments, "-n", "2"])
    assert both.exit_code == 0, both.output
    assert [part.read_bytes() for part in parts] == before
    other = CliRunner().invoke(app, [*arguments, "--people"])  # not the same labels
    assert other.exit_code == 1
    assert "R452" in other.output


def test_labelled_text_can_be_learned_from(teacher, reader_nlp, tmp_path):
    source, out = tmp_path / "plain.txt", tmp_path / "out"
    source.write_text(TEXT * 10, "utf8")
    result = CliRunner().invoke(app, ["distill", teacher, str(source), "-o", str(out)])
    assert result.exit_code == 0, result.output
    (part,) = out.glob("part-*.spacy")
    (doc,) = DocBin().from_disk(part).get_docs(reader_nlp.vocab)
    assert any(key.startswith(PREFIX) for key in doc.spans)
    assert soft_labels_of(doc) is not None
