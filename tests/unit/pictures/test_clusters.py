import re
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, SpanGroup
from spacy.vocab import Vocab

import refreader_spacy
from refreader_spacy.annotation.extensions import write_clusters
from refreader_spacy.decoding.clusters import Cluster, Link, Mention
from refreader_spacy.pictures import render
from refreader_spacy.pictures.clusters import percent

VOID = {"meta"}


class Tree(HTMLParser):
    """Checks that tags nest, and collects the text and the mentions in it."""

    def __init__(self, page):
        super().__init__()
        self.open, self.marks, self.text = [], [], ""
        self.feed(page)
        assert not self.open

    @property
    def in_text(self):
        return any(attrs.get("class") == "text" for _, attrs in self.open)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))
        if tag == "mark":
            self.marks.append({**dict(attrs), "words": ""})

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if not self.in_text:
            return
        self.text += data
        for tag, attrs in self.open:
            if tag == "mark":
                piece = next(
                    m for m in reversed(self.marks) if m["data-m"] == attrs["data-m"]
                )
                piece["words"] += data


def cluster(number, *offsets, probability=0.5):
    mentions = [Mention(start, end, end - 1, number) for start, end in offsets]
    links = [Link(a, b, probability) for a, b in pairwise(mentions)]
    return Cluster(mentions, links)


def groups(doc, *clusters):
    for number, spans in enumerate(clusters, start=1):
        key = f"coref_clusters_{number}"
        doc.spans[key] = SpanGroup(doc, spans=[doc[a:b] for a, b in spans])
    return doc


@pytest.fixture
def doc(nlp):
    doc = nlp("Ismael told Captain Ahab he saw Moby-Dick.")
    write_clusters(doc, [cluster(0, (2, 4), (4, 5), probability=0.834)])
    return doc


def test_the_package_shows_render(doc):
    assert refreader_spacy.render(doc) == render(doc)


def test_a_notebook_shows_a_picture(doc):
    assert render(doc)._repr_html_() == str(render(doc))


def test_mentions_are_marked_with_their_entity(doc):
    marks = Tree(render(doc)).marks
    assert [mark["words"] for mark in marks] == ["Captain Ahab", "he"]
    assert [mark["data-e"] for mark in marks] == ["1", "1"]


def test_an_anaphor_tells_its_antecedent_and_probability(doc):
    first, second = Tree(render(doc)).marks
    assert first["title"] == "1 · Captain Ahab\n2 mentions"
    assert second["title"] == "1 · Captain Ahab\n→ Captain Ahab, 83 %"
    assert second["data-to"] == first["data-m"]


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(1.0, "100 %"), (0.834, "83 %"), (0.0999, "10 %"), (0.052, "5.2 %"), (0, "0.0 %")],
)
def test_small_probabilities_have_a_decimal(probability, shown):
    assert percent(probability) == shown


def test_nested_mentions_nest(nlp):
    doc = groups(nlp("Ann saw her old dog ."), [(0, 1), (2, 3)], [(2, 5)])
    marks = Tree(render(doc)).marks
    assert [mark["words"] for mark in marks] == ["Ann", "her old dog", "her"]
    assert "over1" in marks[1]["class"]


def test_crossing_mentions_are_split(nlp):
    doc = groups(nlp("a b c d"), [(0, 3)], [(1, 4)])
    marks = [(m["data-e"], m["words"]) for m in Tree(render(doc)).marks]
    assert marks == [("1", "a b c"), ("2", "b c"), ("2", " d")]


def test_links_from_elsewhere_may_be_missing(nlp):
    doc = groups(nlp("Ann lost her key"), [(0, 1), (2, 3)])
    assert Tree(render(doc)).marks[1]["title"] == "1 · Ann\n2 mentions"


@pytest.mark.parametrize("text", ["", " ", "Nobody."])
@pytest.mark.parametrize("form", ["fragment", "page", "svg"])
def test_a_text_without_entities_is_a_picture_too(nlp, text, form):
    picture = render(nlp(text), form=form)
    assert text.strip() in picture
    assert form == "svg" or "No two mentions" in picture


HOSTILE = [
    "<script>alert(1)</script> & \"Ann\" 'Bob'",
    "</style></div><!-- Ann",
    "\u202eAnn \u05e9\u05dc\u05d5\u05dd 👩\u200d🚀 e\u0301",
    "tabs\tand\n\nlines  and {braces} {0} %s",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_shows_as_text(nlp, text):
    doc = nlp(text)
    groups(doc, [(0, len(doc)), (0, 1)])
    assert Tree(render(doc)).text == text
    assert Tree(render(doc, form="page")).text == text
    ElementTree.fromstring(render(doc, form="svg"))


def test_characters_that_markup_cannot_hold_are_replaced(nlp):
    doc = nlp("An\x00n \x0b\x1b[31m left")
    assert "\x00" not in render(doc)
    ElementTree.fromstring(render(doc, form="svg"))


@settings(max_examples=60)
@given(
    st.lists(st.text("a<&\n 👩", min_size=1, max_size=4), min_size=6, max_size=6),
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 5), st.integers(1, 6)).filter(
                lambda offsets: offsets[0] < offsets[1]
            ),
            min_size=1,
            max_size=4,
        ),
        max_size=4,
    ),
)
def test_any_mentions_give_well_formed_markup_of_the_same_text(words, clusters):
    doc = groups(Doc(Vocab(), words=words), *clusters)
    tree = Tree(render(doc))
    assert tree.text == doc.text
    ElementTree.fromstring(render(doc, form="svg"))
    found = {
        (m["data-e"], m["data-m"]): "".join(
            other["words"] for other in tree.marks if other["data-m"] == m["data-m"]
        )
        for m in tree.marks
    }
    expected = sorted(
        (str(number), span.text)
        for number, spans in enumerate(doc._.coref_clusters, start=1)
        for span in spans
    )
    assert sorted((e, words) for (e, _), words in found.items()) == expected


def test_pictures_load_nothing_from_elsewhere(doc):
    for form in ("page", "svg"):
        addresses = re.findall(r"https?://[^\s\"']+", render(doc, form=form))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}
        assert "@import" not in render(doc, form=form)


def test_a_page_stands_alone(doc):
    page = render(doc, form="page")
    assert page.startswith("<!DOCTYPE html>")
    assert 'charset="utf-8"' in page
    assert 'name="viewport"' in page


def test_an_image_breaks_lines(nlp):
    doc = groups(nlp("Ann met a very old woman. " * 12), [(3, 80), (0, 1)])
    lines = set(re.findall(r' y="(\d+)" fill="#1b1d21"', render(doc, form="svg")))
    assert len(lines) > 3
    edges = re.findall(r'<text class="ink" x="([\d.]+)"', render(doc, form="svg"))
    assert max(map(float, edges)) < 720


def test_a_picture_of_a_long_text_is_small():
    """And quick, which benchmarks/page.py measures."""
    words = ["Ann", "told", "her", "sister", "that", "she", "left", "."] * 2500
    doc = Doc(Vocab(), words=words)
    starts = range(0, len(words), 8)
    clusters = [
        cluster(i, (start, start + 1), (start + 2, start + 4), (start + 5, start + 6))
        for i, start in enumerate(starts)
    ]
    write_clusters(doc, clusters)
    page = render(doc, form="page")
    assert len(page.encode()) < 10_000_000


def test_an_unknown_style_or_form_is_an_error(doc):
    with pytest.raises(
        ValueError, match="no picture 'ents', only 'clusters', 'memory'"
    ):
        render(doc, "ents")
    with pytest.raises(ValueError, match="no picture 'pdf', only 'fragment'"):
        render(doc, form="pdf")
    with pytest.raises(ValueError, match="Leave out gold"):
        render(doc, gold="gold")
