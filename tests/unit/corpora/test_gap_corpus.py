import logging
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from refreader_spacy.corpora.gap import (
    GAP_KEYS,
    GOLD_COLUMNS,
    GapRow,
    Mention,
    read_gap,
)
from refreader_spacy.corpora.gap_corpus import (
    create_gap_corpus,
    gap_example,
    gap_examples,
    n_widened,
    paired,
)

HEADER = "\t".join(GOLD_COLUMNS)
TEXT = "Vera told Olga Petrova that she had won."
ROW = f"r-1\t{TEXT}\tshe\t28\tVera\t0\tFALSE\tOlga Petrova\t10\tTRUE\thttp://x.org"


def gap_file(folder: Path, *lines: str) -> Path:
    path = folder / "rows.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    return path


def gap_row(text: str, a_coref: bool = False, b_coref: bool = False) -> GapRow:
    """A row from a text in which the pronoun, A and B are in <p>, <a> and <b>."""
    mentions = {}
    for letter in sorted("pab", key=lambda letter: text.index(f"<{letter}>")):
        before, mention, after = text.split(f"<{letter}>")
        mentions[letter] = Mention(mention, len(before))
        text = before + mention + after
    return GapRow(
        id="r-1",
        text=text,
        pronoun=mentions["p"],
        a=mentions["a"],
        a_coref=a_coref,
        b=mentions["b"],
        b_coref=b_coref,
        url="",
    )


def clusters(example: Example) -> list[list[str]]:
    """The gold clusters in the order of their numbers."""
    spans = example.reference.spans
    keys = [key for key in spans if key.startswith("coref_clusters_")]
    assert keys == [f"coref_clusters_{n}" for n in range(1, len(keys) + 1)]
    return [[span.text for span in spans[key]] for key in keys]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("en")


def test_a_row_is_read_as_it_was_written(tmp_path):
    (row,) = read_gap(gap_file(tmp_path, HEADER, ROW))
    assert row == GapRow(
        id="r-1",
        text=TEXT,
        pronoun=Mention("she", 28),
        a=Mention("Vera", 0),
        a_coref=False,
        b=Mention("Olga Petrova", 10),
        b_coref=True,
        url="http://x.org",
    )
    assert row.gender == "F"


def test_columns_may_come_in_any_order_and_labels_in_any_case(tmp_path):
    cells = ROW.replace("TRUE", "True").replace("FALSE", "false").split("\t")
    path = gap_file(
        tmp_path, "\t".join(reversed(GOLD_COLUMNS)), "\t".join(reversed(cells))
    )
    (row,) = read_gap(path)
    assert (row.id, row.a_coref, row.b_coref) == ("r-1", False, True)


@pytest.mark.parametrize(
    ("lines", "code", "parts"),
    [
        ([], "R106", ["rows.tsv"]),
        ([HEADER], "R106", ["rows.tsv"]),
        ([HEADER.replace("A-coref", "A"), ROW], "R101", ["line 1", "A-coref"]),
        ([ROW], "R101", ["line 1", "Pronoun-offset"]),
        ([HEADER, ROW, "r-2\tText"], "R102", ["line 3", "URL", "2"]),
        ([HEADER, f"{ROW}\tmore"], "R102", ["line 2", "12"]),
        ([HEADER, ROW, "", ROW], "R102", ["line 3"]),
        ([HEADER, ROW.replace("28", "27")], "R103", ["line 2", "'she'", "27", "' sh'"]),
        ([HEADER, ROW.replace("28", "-12")], "R103", ["Pronoun", "-12"]),
        ([HEADER, ROW.replace("28", "x")], "R103", ["Pronoun", "character x"]),
        ([HEADER, ROW.replace("28", "999")], "R103", ["999", "''"]),
        ([HEADER, ROW.replace("\tVera\t", "\t\t")], "R103", ["the A ''"]),
        ([HEADER, ROW.replace("TRUE", "YES")], "R104", ["line 2", "B-coref", "YES"]),
        ([HEADER, ROW, ROW], "R105", ["line 3", "r-1", "line 2"]),
        ([HEADER, ROW.replace("she\t28", "had\t32")], "R107", ["line 2", "'had'"]),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, lines, code, parts):
    with pytest.raises(ValueError, match=code) as error:
        read_gap(gap_file(tmp_path, *lines))
    for part in parts:
        assert part in str(error.value)


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_bytes(f"{HEADER}\n{ROW}\n".replace("Vera", "Véra").encode("latin-1"))
    with pytest.raises(ValueError, match="R100"):
        read_gap(path)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((True, False), [["Ann", "she"], ["Eve Ray"]]),
        ((False, True), [["Ann"], ["Eve Ray", "she"]]),
        ((True, True), [["Ann", "Eve Ray", "she"]]),
        ((False, False), [["Ann"], ["Eve Ray"], ["she"]]),
    ],
)
def test_clusters_and_singletons_are_in_text_order(nlp, labels, expected):
    row = gap_row("<a>Ann<a> met <b>Eve Ray<b> when <p>she<p> left.", *labels)
    assert clusters(gap_example(row, nlp)) == expected


def test_a_pronoun_may_come_first(nlp):
    row = gap_row("When <p>she<p> left, <b>Eve<b> saw <a>Ann<a>.", b_coref=True)
    assert clusters(gap_example(row, nlp)) == [["she", "Eve"], ["Ann"]]


def test_only_the_reference_is_annotated(nlp):
    example = gap_example(gap_row("<a>Ann<a> and <b>Eve<b> like <p>her<p>."), nlp)
    assert not example.predicted.spans
    assert {key: str(example.reference.spans[key][0]) for key in GAP_KEYS} == {
        "gap_pronoun": "her",
        "gap_a": "Ann",
        "gap_b": "Eve",
    }


@pytest.mark.parametrize("store_user_data", [True, False])
def test_gold_survives_a_docbin(nlp, store_user_data):
    row = gap_row("<a>Al<a> and <b>Bo<b> like <p>his<p> dog.", b_coref=True)
    example = gap_example(row, nlp)
    data = DocBin(docs=[example.reference], store_user_data=store_user_data).to_bytes()
    (doc,) = DocBin().from_bytes(data).get_docs(nlp.vocab)
    assert doc.spans["gap_pronoun"].attrs["id"] == "r-1"
    assert doc.spans["gap_pronoun"].attrs["gender"] == "M"
    assert [doc.spans[key].attrs["coref"] for key in ("gap_a", "gap_b")] == [
        False,
        True,
    ]
    assert clusters(Example(example.predicted, doc)) == clusters(example)


def test_a_cut_token_is_taken_whole_and_counted(nlp):
    row = gap_row("<a>Mrs<a>. Lee saw <b>Ann<b> as <p>she<p> left.", a_coref=True)
    example = gap_example(row, nlp)
    assert clusters(example) == [["Mrs.", "she"], ["Ann"]]
    assert n_widened(example.reference) == 1


@pytest.mark.parametrize("labels", [(True, True), (True, False), (False, True)])
def test_of_two_names_in_one_token_the_one_that_corefers_is_kept(labels):
    nlp = spacy.blank("en")
    nlp.tokenizer.add_special_case("Lee/Ann", [{"ORTH": "Lee/Ann"}])
    example = gap_example(
        gap_row("<a>Lee<a>/<b>Ann<b> said <p>she<p> left.", *labels), nlp
    )
    assert clusters(example) == [["Lee/Ann", "she"]]
    assert n_widened(example.reference) == 2
    assert all(len(example.reference.spans[key]) == 1 for key in GAP_KEYS)


def test_widened_mentions_are_reported_once(nlp, caplog):
    caplog.set_level(logging.INFO, logger="spacy")
    rows = [gap_row("<a>Mrs<a>. Lee told <b>Ann<b> that <p>she<p> won.")]
    for _ in range(2):
        assert len(list(gap_examples(rows, nlp))) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "GAP rows r-1 to r-1: 1 of 3 mentions end inside a token and were widened."
    ]


def test_a_tokenizer_that_loses_text_is_refused():
    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=["Ann"])
    with pytest.raises(ValueError, match="R111"):
        gap_example(gap_row("<a>Ann<a> saw <b>Eve<b> as <p>she<p> left."), nlp)


words = st.lists(
    st.text(st.characters(exclude_characters="<>\t\r\n", exclude_categories=["Cs"])),
    min_size=4,
    max_size=4,
)


@given(words, st.permutations("pab"), st.booleans(), st.booleans())
def test_mentions_are_found_in_any_text(nlp, words, order, a_coref, b_coref):
    names = {"p": "her", "a": "Al", "b": "Bo"}
    marked = [f"<{letter}>{names[letter]}<{letter}>" for letter in order]
    text = "".join(word + mark for word, mark in zip(words, [*marked, ""], strict=True))
    row = gap_row(text, a_coref, b_coref)
    reference = gap_example(row, nlp).reference
    assert reference.text == row.text
    for key, mention in zip(GAP_KEYS, (row.pronoun, row.a, row.b), strict=True):
        (span,) = reference.spans[key]
        assert isinstance(span, Span)
        assert span.start_char <= mention.offset
        assert span.end_char >= mention.offset + len(mention.text)


def test_the_reader_is_registered_and_limited(nlp, tmp_path):
    second = ROW.replace("r-1", "r-2")
    config = {
        "@readers": "refreader-spacy.GapCorpus.v1",
        "path": str(gap_file(tmp_path, HEADER, ROW, second)),
    }
    for limit, n_rows in ((0, 2), (1, 1)):
        read = spacy.registry.resolve({"corpus": {**config, "limit": limit}})["corpus"]
        for _ in range(2):  # each epoch reads it anew
            ids = [eg.reference.spans["gap_pronoun"].attrs["id"] for eg in read(nlp)]
            assert ids == ["r-1", "r-2"][:n_rows]


def test_a_bad_corpus_fails_before_training(tmp_path):
    with pytest.raises(ValueError, match="R102"):
        create_gap_corpus(gap_file(tmp_path, HEADER, "r-1"))


def test_pairs_ask_each_row_in_the_joined_text(nlp):
    rows = [
        gap_row("<a>Ann<a> met <b>Eve Ray<b> when <p>she<p> left.", a_coref=True),
        gap_row("When <p>he<p> won, <a>Al<a> saw <b>Bo<b>.", b_coref=True),
        gap_row("<b>Cy<b> and <a>Di<a> like <p>her<p>."),
    ]
    first, second, alone = paired(rows)
    assert first.text == second.text == f"{rows[0].text} {rows[1].text}"
    assert alone == rows[2]
    one, two = gap_example(first, nlp), gap_example(second, nlp)
    for example, mentions in ((one, "she Ann Eve Ray"), (two, "he Al Bo")):
        spans = example.reference.spans
        assert " ".join(str(spans[key][0]) for key in GAP_KEYS) == mentions
    assert clusters(one) == [["Ann", "she"], ["Eve Ray"]]
    assert clusters(two) == [["he", "Bo"], ["Al"]]
    assert (first.gender, second.gender) == ("F", "M")


@pytest.mark.parametrize("n_rows", range(5))
def test_pairs_lose_no_row(n_rows):
    row = gap_row("<a>Ann<a> met <b>Eve<b> when <p>she<p> left.")
    rows = [replace(row, id=f"r-{number}") for number in range(n_rows)]
    assert [each.id for each in paired(rows)] == [each.id for each in rows]


def test_the_reader_can_pair_rows(nlp, tmp_path):
    path = gap_file(tmp_path, HEADER, ROW, ROW.replace("r-1", "r-2"))
    one, two = create_gap_corpus(path, pairs=True)(nlp)
    assert one.text == two.text == f"{TEXT} {TEXT}"


def test_a_long_run_is_cut_before_it_is_tokenized(nlp):
    """spaCy's tokenizer would take hours."""
    row = gap_row("<a>Vera<a> told <b>Olga<b> that <p>she<p> won. " + "$(" * 50_000)
    example = gap_example(row, nlp)
    assert example.reference.text == row.text
