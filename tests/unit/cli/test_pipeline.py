import pytest

from refreader_spacy.cli.pipeline import load_pipeline
from refreader_spacy.component import PACKAGED
from refreader_spacy.reader.packaged import packaged_names

TEXT = "Volvo shipped the cars to Ghent, where Ann Lee unloaded them before she left."


def found(nlp):
    return [str(span) for spans in nlp(TEXT)._.coref_clusters for span in spans]


def test_weights_of_the_package_go_by_their_name():
    default = PACKAGED["name"]
    assert default in packaged_names()
    assert found(load_pipeline(default)) == found(load_pipeline(None)) != []


def test_another_name_is_a_pipeline():
    with pytest.raises(OSError, match="en_nothing"):
        load_pipeline("en_nothing")
