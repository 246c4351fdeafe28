from refreader_spacy.lang.en.words import Gender, given_names


def test_given_names_and_titles_tell_a_gender():
    names = given_names()
    assert names["Mary"] == names["Mrs."] == Gender.FEMININE
    assert names["John"] == names["Mr."] == Gender.MASCULINE
    assert "Xyz" not in names
