import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from spacy.tokens import Doc, SpanGroup
from spacy.vocab import Vocab

from refreader_spacy.annotation.extensions import write_trace
from refreader_spacy.pictures import render
from refreader_spacy.pictures.columns import entity_of_tokens, shown_columns
from refreader_spacy.pictures.png import png
from refreader_spacy.protocol import Reading

WORDS = ["Ismael", "told", "Captain", "Ahab", "that", "he", "saw", "Moby-Dick"]


def reading(n_tokens, n_cells=2, **gates):
    """All gates are 0, but for those given as {(token, cell): value}."""
    arrays = {
        name: np.zeros((n_tokens, n_cells), dtype=np.float32)
        for name in ("update", "overwrite", "salience")
    }
    for name, values in gates.items():
        for place, value in values.items():
            arrays[name][place] = value
    return Reading(**arrays)


@pytest.fixture
def doc():
    """Two cells: Ismael in the first, Captain Ahab and then "he" in the second."""
    doc = Doc(Vocab(), words=WORDS)
    gates = reading(
        len(doc),
        overwrite={(0, 0): 0.9, (2, 1): 0.8},
        update={(3, 1): 0.9, (5, 1): 0.7},
        salience={(..., 0): 0.6, (..., 1): 0.7},
    )
    write_trace(doc, gates)
    return doc


def labels(image):
    return re.findall(r"rotate\(-58\)\">([^<]+)<", image)


def test_an_image_names_cells_and_operations(doc):
    image = render(doc, "memory", form="svg")
    ElementTree.fromstring(image)
    for word in ("cell 0", "cell 1", "update", "overwrite", "salience", "gates"):
        assert f">{word}<" in image
    assert labels(image)[:6] == WORDS[:6]


def test_a_token_tells_its_values(doc):
    image = render(doc, "memory", form="svg")
    assert "<title>he\ncell 0: update 0.00, overwrite 0.00, salience 0.60\n" in image


def test_overwrites_are_dashed_and_updates_are_not(doc):
    curves = re.findall(
        r'<path class="line(\d)" d="M([\d.]+),[^"]*"[^>]*fill="none"([^>]*)/>',
        render(doc, "memory", form="svg"),
    )
    dashed = {(cell, "dash" in dashes) for cell, _, dashes in curves}
    assert dashed == {("0", False), ("0", True), ("1", False), ("1", True)}


def test_dull_stretches_become_an_ellipsis():
    gates = reading(12, update={(1, 0): 0.5, (9, 1): 0.06})
    assert shown_columns(gates, {}) == [0, 1, 2, None, 8, 9, 10, 11]


def test_a_short_dull_stretch_stays():
    gates = reading(6, update={(0, 0): 0.5, (4, 1): 0.5})
    assert shown_columns(gates, {}) == [0, 1, 2, 3, 4, 5]


def test_marked_tokens_are_never_dull():
    assert shown_columns(reading(9), {4: 1}) == [None, 3, 4, 5, None]


@pytest.mark.parametrize(
    ("n_tokens", "columns"), [(0, []), (1, [0]), (2, [0, 1]), (3, [None])]
)
def test_nothing_happens_in_some_texts(n_tokens, columns):
    assert shown_columns(reading(n_tokens), {}) == columns
    doc = Doc(Vocab(), words=["a"] * n_tokens)
    write_trace(doc, reading(n_tokens))
    for form in ("fragment", "page", "svg"):
        assert "cell 1" in render(doc, "memory", form=form)


def test_long_texts_wrap_into_rows():
    doc = Doc(Vocab(), words=[f"word{i}" for i in range(100)])
    gates = reading(100, update={(..., 0): 0.5})
    write_trace(doc, gates)
    image = render(doc, "memory", form="svg")
    assert image.count(">salience<") == 4
    assert labels(image) == [token.text for token in doc]


def test_many_cells_find_room():
    doc = Doc(Vocab(), words=["a", "b"])
    write_trace(doc, reading(2, n_cells=20, update={(0, 19): 1.0}))
    image = render(doc, "memory", form="svg")
    ElementTree.fromstring(image)
    assert ">cell 19<" in image


def test_values_out_of_bounds_stay_in_the_picture():
    doc = Doc(Vocab(), words=["a", "b"])
    write_trace(doc, reading(2, salience={(0, 0): 1.5, (1, 0): -1.0}))
    assert "-" not in "".join(
        re.findall(r'class="line0" d="([^"]+)"', render(doc, "memory", form="svg"))
    )


def test_hostile_tokens_show_as_text():
    words = ["<script>", "&", '"', "\x00", "\n", " ", "\u202eabc", "👩\u200d🚀"]
    doc = Doc(Vocab(), words=words)
    write_trace(doc, reading(len(words), update={(..., 0): 0.5}))
    image = render(doc, "memory", form="svg")
    ElementTree.fromstring(image)
    assert "<script" not in image
    assert labels(image)[3:6] == ["\ufffd", "↵", "␣"]


def test_tokens_are_marked_with_what_was_found(doc):
    doc.spans["coref_clusters_1"] = SpanGroup(doc, spans=[doc[2:4], doc[5:6]])
    image = render(doc, "memory", form="svg")
    assert ">entity, as found<" in image
    assert '>he<tspan dy="-4" font-size="9">1</tspan>' in image


def test_tokens_are_marked_with_gold_groups(doc):
    doc.spans["gold_1"] = SpanGroup(doc, spans=[doc[0:1], doc[5:6]])
    image = render(doc, "memory", form="svg", gold="gold")
    assert ">entity, gold<" in image
    assert entity_of_tokens(doc, "gold") == {0: 1, 5: 1}


def test_gold_may_be_a_doc_with_other_tokens(doc):
    words = [*WORDS[:-1], "Moby", "-", "Dick"]
    spaces = [*[True] * 7, False, False, True]
    gold = Doc(Vocab(), words=words, spaces=spaces)
    gold.spans["coref_clusters_1"] = SpanGroup(gold, spans=[gold[7:10]])
    gold.spans["coref_clusters_2"] = SpanGroup(gold, spans=[gold[2:4], gold[5:6]])
    assert gold.text == doc.text
    assert entity_of_tokens(doc, gold) == {2: 1, 3: 1, 5: 1, 7: 2}


def test_the_innermost_mention_marks_a_token(doc):
    doc.spans["gold_1"] = SpanGroup(doc, spans=[doc[0:4]])
    doc.spans["gold_2"] = SpanGroup(doc, spans=[doc[2:4]])
    assert entity_of_tokens(doc, "gold") == {0: 1, 1: 1, 2: 2, 3: 2}


def test_a_png_is_an_image(doc):
    pytest.importorskip("resvg_py")
    for style in ("clusters", "memory"):
        assert png(render(doc, style, form="svg")).startswith(b"\x89PNG")


def test_without_its_library_a_png_is_a_clear_error(doc, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ValueError, match=r"pip install 'refreader-spacy\[png\]'"):
        png(render(doc, "memory", form="svg"))


def test_without_a_trace_the_error_says_what_to_do(nlp):
    with pytest.raises(ValueError, match=r"get_pipe\('refreader'\).trace = True"):
        render(nlp("Ann left."), "memory")


def test_gold_that_is_not_there_is_an_error(doc, nlp):
    with pytest.raises(ValueError, match=r"'silver_1'.*coref_read"):
        render(doc, "memory", gold="silver")
    with pytest.raises(ValueError, match="starts with 'Another text'"):
        render(doc, "memory", gold=nlp("Another text"))


def test_cells_that_nothing_is_written_to_are_not_in_the_legend(nlp):
    doc = nlp.make_doc("Ann met Bo")
    update, overwrite, salience = np.zeros((3, 3, 16), np.float32)
    overwrite[0, 0] = overwrite[2, 2] = 1
    write_trace(doc, Reading(update, overwrite, salience))
    drawn = render(doc, "memory", form="fragment")
    assert "cell 2" in drawn
    assert "cell 3" not in drawn
