import json
import lzma
from pathlib import Path

import pytest
from spacy.language import Language
from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.corpora.biographies import (
    Article,
    given_names,
    read_articles,
    silver_doc,
    silver_examples,
)
from refreader_spacy.corpora.span_groups import UNSURE

MARLOW = (
    "Edda Marlow was a baker in the small town of Lunde by the sea, where she was "
    "born, and her bread was known along the whole coast. Her friend Greta Holt joined "
    "Marlow in the shop. Together they opened three more, and Greta Holt sold what "
    "Marlow had made."
)
TEXT = f"""= Edda Marlow =
{MARLOW}

= Edda Quist =
Edda Quist wrote songs. She sang them herself, and her voice was high. She died young.

= Greta Sand =
She was a judge. Her name was Greta Sand. She ruled, and she was feared.

= Greta Winter =
She climbed. Her ropes were old, and she knew it. She was careful.
"""


@pytest.fixture
def articles(tmp_path: Path) -> list[Article]:
    path = tmp_path / "articles.txt.xz"
    path.write_bytes(lzma.compress(TEXT.encode()))
    return list(read_articles(path))


def test_articles_are_read_from_compressed_text(articles: list[Article]) -> None:
    assert [article.title for article in articles][:2] == ["Edda Marlow", "Edda Quist"]
    assert articles[0].paragraphs[0].startswith("Edda Marlow was")


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("She ran. Her sister saw her.", "F"),
        ("He ran. His sister saw him.", "M"),
        ("She ran. His sister saw him.", None),
        ("They ran.", None),
    ],
)
def test_pronouns_tell_whom_an_article_is_about(text: str, gender: str | None) -> None:
    assert Article("X", [text]).gender() == gender


def test_first_names_get_a_gender_from_two_articles(articles: list[Article]) -> None:
    assert given_names(articles) == {"Edda": "F", "Greta": "F"}


def test_examples_label_the_person_and_not_the_other(
    nlp: Language, articles: list[Article]
) -> None:
    many = articles[:1] * 10
    examples = list(silver_examples(nlp, many, given_names(articles), seed=1))
    assert {example.kind for example in examples} == {"natural", "replaced"}
    for example in examples:
        doc = silver_doc(nlp, example)
        cluster = {span.text for span in doc.spans["coref_clusters_1"]}
        assert any("Marlow" in text for text in cluster)
        assert any(text.lower() in {"she", "her"} for text in cluster)
        assert [span.text for span in doc.spans["coref_clusters_2"]] == ["Greta Holt"]
        assert "Greta Holt" not in {span.text for span in doc.spans[UNSURE]}


def test_a_replaced_name_is_gone_and_its_clitic_with_it(
    nlp: Language, articles: list[Article]
) -> None:
    many = articles[:1] * 10
    examples = silver_examples(nlp, many, given_names(articles), seed=1)
    replaced = next(example for example in examples if example.kind == "replaced")
    text = silver_doc(nlp, replaced).text
    assert text.count("Marlow") == articles[0].text.count("Marlow") - 1
    assert "her's" not in text


def test_half_of_the_men_become_women_names_and_all(nlp: Language) -> None:
    text = (
        "Otto Vann met his brother Karl Lind at the harbour early in the morning, and "
        "he told him about the ship. Vann said that he would sail before the winter "
        "came, and Karl Lind gave him his coat and went back to the town."
    )
    article = Article("Otto Vann", [text] * 40)
    given = {"Otto": "M", "Karl": "M", "Edda": "F", "Greta": "F"}
    examples = list(silver_examples(nlp, [article], given, seed=0))
    turned = [example for example in examples if example.gender == "F"]
    assert 0.25 < len(turned) / len(examples) < 0.75
    for example in turned:
        words = {word.lower() for word in example.words}
        assert not words & {"he", "him", "his", "brother", "otto", "karl"}
        assert words & {"edda", "greta"}


def test_names_of_one_gender_are_listed(tmp_path: Path) -> None:
    lives = [
        ("Edda", "She", 3),
        ("Otto", "He", 3),
        ("Kim", "She", 3),
        ("Rare", "He", 1),
    ]
    lives += [("Kim", "He", 1), ("Paris", "She", 3)]
    text = "".join(
        f"= {name} Holt =\n{pronoun} ran. {pronoun} sang. {pronoun} slept.\n\n"
        for name, pronoun, n in lives
        for _ in range(n)
    )
    (tmp_path / "lives.txt").write_text(text, "utf8")
    output = tmp_path / "names.json"
    result = CliRunner().invoke(
        app, ["names", str(tmp_path / "lives.txt"), "-o", str(output)]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(output.read_text("utf8")) == {"he": "Otto", "she": "Edda"}
