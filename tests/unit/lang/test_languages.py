import warnings

import pytest

from refreader_spacy.lang.languages import warn_of_language


def test_a_pipeline_of_another_language_is_told():
    with pytest.warns(UserWarning, match="'refreader' are for English.*'de'"):
        warn_of_language("de", "refreader")


@pytest.mark.parametrize("language", ["en", "xx"])
def test_an_english_pipeline_is_told_nothing(language):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_language(language, "refreader")
