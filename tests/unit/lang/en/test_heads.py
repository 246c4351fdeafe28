import pytest

from refreader_spacy.lang.en.heads import head_index


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("she", "she"),
        ("the old man", "man"),
        ("the man of the house", "man"),
        ("the man who came to dinner", "man"),
        ("the man , a sailor ,", "man"),
        ("the gene ( DAZ )", "gene"),
        ("the plan to leave", "plan"),
        ("the man wearing a hat", "man"),
        ("cells taken from mice", "cells"),
        ("the building of stone", "building"),
        ("the work he had done", "work"),
        ("Byron 's", "Byron"),
        ("my neighbour ’s", "neighbour"),  # noqa: RUF001
        ("her mother 's house", "house"),
        ("contented , happy , little children", "children"),
        ("rocks and promontories", "rocks"),
        ("black and white cats", "cats"),
        ("something similar", "something"),
        ("those in need", "those"),
        ("the over 200 people", "people"),
        ("Figure 1", "Figure"),
        ("“ Hamlet ”", "Hamlet"),
        (". . .", "."),
        ("( he )", "he"),
        ("of", "of"),
    ],
)
def test_the_head_comes_before_what_can_only_follow_it(text, head):
    words = ["before", *text.split(), "after"]
    assert words[head_index(words, 1, len(words) - 1)] == head
