"""The demo corpus has the properties that its README promises."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from spacy.language import Language

DEMO = Path(__file__).parents[2] / "assets" / "demo"
COLUMNS = (
    *("ID", "Text", "Pronoun", "Pronoun-offset"),
    *("A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL"),
)
FEMININE, MASCULINE = {"she", "her", "hers"}, {"he", "him", "his"}

Row = dict[str, str]


def read(part: str) -> list[Row]:
    with (DEMO / f"demo-{part}.tsv").open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def label(row: Row) -> str:
    return {"TRUE FALSE": "A", "FALSE TRUE": "B", "FALSE FALSE": "neither"}[
        f"{row['A-coref']} {row['B-coref']}"
    ]


def is_cataphora(row: Row) -> bool:
    name = label(row)
    return name != "neither" and int(row["Pronoun-offset"]) < int(row[f"{name}-offset"])


PARTS = {part: read(part) for part in ("development", "validation", "test")}
ROWS = [row for rows in PARTS.values() for row in rows]


@pytest.mark.parametrize(
    ("part", "at_least"), [("development", 60), ("validation", 20), ("test", 20)]
)
def test_each_part_is_balanced(part: str, at_least: int) -> None:
    rows = PARTS[part]
    assert len(rows) >= at_least
    pronouns = Counter(row["Pronoun"].lower() for row in rows)
    assert sum(pronouns[word] for word in FEMININE) * 2 == len(rows)
    assert sum(pronouns[word] for word in MASCULINE) * 2 == len(rows)
    labels = Counter(map(label, rows))
    assert labels["neither"] >= 0.15 * len(rows)
    assert abs(labels["A"] - labels["B"]) <= 0.05 * len(rows)


@pytest.mark.parametrize("part", PARTS)
def test_rows_are_in_gaps_format(part: str) -> None:
    for number, row in enumerate(PARTS[part], start=1):
        assert tuple(row) == COLUMNS
        assert row["ID"] == f"demo-{part}-{number}"
        assert row["URL"].startswith("https://example.org/")
        for mention in ("Pronoun", "A", "B"):
            assert row["Text"].startswith(row[mention], int(row[f"{mention}-offset"]))


def test_there_are_pronouns_before_their_names() -> None:
    assert sum(map(is_cataphora, PARTS["development"])) >= 12
    assert all(any(map(is_cataphora, rows)) for rows in PARTS.values())


def test_names_are_varied() -> None:
    names = [row[key] for row in ROWS for key in ("A", "B")]
    assert sum(" " in name for name in names) > len(names) / 2
    for sign in "-'.":
        assert any(sign in name for name in names)
    assert any(not name.isascii() for name in names)
    assert {int(row["A-offset"]) < int(row["B-offset"]) for row in ROWS} == {
        True,
        False,
    }


def test_pronouns_are_varied() -> None:
    assert {row["Pronoun"].lower() for row in ROWS} == FEMININE | MASCULINE
    assert any(row["Pronoun"].istitle() for row in ROWS)


def test_texts_are_short_and_written_once(nlp: Language) -> None:
    assert len({row["Text"] for row in ROWS}) == len(ROWS)
    nlp.add_pipe("sentencizer")
    for doc in nlp.pipe(row["Text"] for row in ROWS):
        assert 2 <= len(list(doc.sents)) <= 5, doc.text


def test_mentions_end_where_tokens_end(nlp: Language) -> None:
    for row in ROWS:
        doc = nlp.make_doc(row["Text"])
        for mention in ("Pronoun", "A", "B"):
            start = int(row[f"{mention}-offset"])
            assert doc.char_span(start, start + len(row[mention])), row["ID"]
