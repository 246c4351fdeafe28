import json

from typer.testing import CliRunner

from refreader_spacy.cli import app
from refreader_spacy.cli.model_cards import card_page, card_scores

ONTOGUM = {
    "row": "OntoGUM dev",
    "singletons": False,
    "n_docs": 30,
    "scores": {
        "coref_f": 0.5578,
        "coref_type_acc": None,
        "coref_per_anaphor": {"he": {"p": 0.87, "r": 0.88, "f": 0.875}},
    },
    "genres": {"news": {"n_docs": 2, "coref_f": 0.431}},
}
GAP = {
    "row": "GAP test",
    "singletons": False,
    "n_docs": 2000,
    "scores": {"gap_f": 0.7211, "gap_bias": 0.9912},
}


def test_scores_are_taken_from_what_was_measured():
    found = card_scores([ONTOGUM, GAP])
    assert found["scores"] == {
        "OntoGUM dev, CoNLL F1": 55.8,
        "GAP test, GAP F1": 72.1,
        "GAP test, feminine to masculine": 99.1,
    }
    he = found["details"]["OntoGUM dev"]["by anaphor"]["he"]
    assert he == {"recall": 88.0, "precision": 87.0}


def test_a_card_is_a_page():
    card = {
        "description": "Reads.",
        "data": [{"name": "GUM", "license": "CC BY 4.0"}],
        "limits": ["English only."],
        **card_scores([ONTOGUM]),
    }
    lines = card_page("en_small", card).splitlines()
    assert lines[0] == "# en_small"
    for line in (
        "| GUM | CC BY 4.0 |",
        "- English only.",
        "| CoNLL F1 | 55.8 |",
        "| he | 88.0 | 87.0 |",
        "| news | 2 | 43.1 |",
    ):
        assert line in lines


def test_weights_are_written_with_their_card_and_page(reader_nlp, tmp_path):
    reader_nlp.get_pipe("refreader").threshold = 0.25
    reader_nlp.to_disk(tmp_path / "trained")
    scores = tmp_path / "ontogum.json"
    scores.write_text(json.dumps(ONTOGUM))
    where = [str(tmp_path / "trained"), str(tmp_path / "en_small")]
    page = tmp_path / "en_small.md"
    more = ["--scores", str(scores), "--page", str(page)]
    result = CliRunner().invoke(app, ["weights", *where, *more])
    assert result.exit_code == 0, result.output
    card = json.loads((tmp_path / "en_small" / "card.json").read_text())
    assert card["name"] == "en_small"
    assert card["threshold"] == 0.25
    assert card["scores"]["OntoGUM dev, CoNLL F1"] == 55.8
    assert "threshold: 0.25" in page.read_text()
