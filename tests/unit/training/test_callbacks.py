import pytest

from refreader_spacy.training.callbacks import create_temperature_callback


def temperature_of(nlp, name="refreader"):
    layers = nlp.get_pipe(name).model.walk()
    return [x.attrs["temperature"] for x in layers if "temperature" in x.attrs]


@pytest.mark.parametrize(
    ("epoch", "expected"), [(0, 2.0), (9, 2.0), (10, 1.0), (19, 1.0), (20, 0.5)]
)
def test_the_temperature_halves_in_steps(paper_nlp, epoch, expected):
    create_temperature_callback(start=2.0, half_life=10)(paper_nlp, {"epoch": epoch})
    assert temperature_of(paper_nlp) == [expected]


def test_a_pipe_of_any_name_can_be_cooled(paper_nlp):
    paper_nlp.rename_pipe("refreader", "coref")
    create_temperature_callback(half_life=1, name="coref")(paper_nlp, {"epoch": 3})
    assert temperature_of(paper_nlp, "coref") == [0.125]
