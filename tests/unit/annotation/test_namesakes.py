import pytest
from marked import marked

from refreader_spacy.annotation.entities import entities
from refreader_spacy.annotation.namesakes import join_namesakes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("[a:Ahab] ran. [a:He] fell. [b:Ahab] swore. [b:He] wept.", [4]),
        ("[a:Captain Ahab] ran. [b:Ahab] swore. [c:Stubb] wept.", [2, 1]),
        ("[a:The captain] ran. [b:The captain] swore.", [1, 1]),
        ("[a:Jones] ran, [a:he], [a:he]. [b:Jones] sat, [b:she], [b:she].", [3, 3]),
        (
            "[a:Jones] hurt [a:himself], [a:he]. [b:Jones] hid [b:her], [b:herself].",
            [3, 3],
        ),
        (
            "[a:Mary Jones] and [a:Mary Jones], [b:Tom Jones] and [b:Tom Jones], "
            "[c:Jones]",
            [3, 2],
        ),
        ("[a:Mary Jones], [b:Mary Jones] and [c:Mary].", [2, 1]),
        ("[a:Ahab], " + "[a:I] " * 40 + "and [b:Ahab].", [41, 1]),
    ],
)
def test_who_has_the_same_name_is_one(text, sizes):
    joined = join_namesakes(entities(marked(text)))
    assert sorted(map(len, joined), reverse=True) == sizes


def test_a_joined_entity_has_all_mentions_in_text_order():
    doc = marked("[a:Ahab] ran. [b:Ahab] fell. [a:He] swore. [b:He] wept. [b:He] died.")
    (ahab,) = join_namesakes(entities(doc))
    assert (
        [mention.start for mention in ahab.mentions] == ahab.heads == [0, 3, 6, 9, 12]
    )
    assert ahab.main.text == "Ahab"
