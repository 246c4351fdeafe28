import re

import pytest
import spacy
from spacy.tokens import Doc, Span

from refreader_spacy.annotation.resolved_text import resolved_text


def marked(text):
    """A Doc and its clusters from brackets with a cluster's letter: [a:Ahab] left."""
    plain, opened, found = "", [], []
    for piece in re.split(r"(\[\w:|\])", text):
        if piece.startswith("["):
            opened.append((piece[1], len(plain)))
        elif piece == "]":
            letter, start = opened.pop()
            found.append((letter, start, len(plain)))
        else:
            plain += piece
    doc = spacy.blank("en")(plain)
    clusters = {}
    for letter, start, end in sorted(found, key=lambda mention: mention[1:]):
        clusters.setdefault(letter, []).append(doc.char_span(start, end))
    return doc, list(clusters.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What is replaced
        ("[a:Ahab] said [a:he] left.", "Ahab said Ahab left."),
        ("[a:Ahab] slept. [a:The captain] snored.", "Ahab slept. Ahab snored."),
        ("[a:He] said [a:he] left.", "He said he left."),
        ("[a:Ahab] hurt [a:himself].", "Ahab hurt himself."),
        (
            "[a:Ahab], [a:who] left, lost [a:his] hat.",
            "Ahab, who left, lost Ahab's hat.",
        ),
        ("[a:She] saw [b:it] sink.", "She saw it sink."),
        # Cataphora
        ("During [a:his] tenure, [a:Smith] hid.", "During Smith's tenure, Smith hid."),
        ("When [a:she] woke, [a:Mary] sang.", "When Mary woke, Mary sang."),
        # Possessives
        ("[a:Mary] sold [a:her] boat.", "Mary sold Mary's boat."),
        ("[a:Mary] ran; Tom saw [a:her].", "Mary ran; Tom saw Mary."),
        ("[a:Mary] ran; Tom saw [a:her] again.", "Mary ran; Tom saw Mary again."),
        ("[a:Mary] ran; Tom saw [a:her]", "Mary ran; Tom saw Mary"),
        ("[a:Mary] ran; he gave [a:her] the oar.", "Mary ran; he gave Mary the oar."),
        ("[a:Mary] left. The hat is [a:hers].", "Mary left. The hat is Mary's."),
        ("[a:James] lost [a:his] hat.", "James lost James's hat."),
        ("[a:The sailors] lost [a:their] hats.", "The sailors lost the sailors' hats."),
        ("[a:James] lost [a:their] hat.", "James lost James's hat."),
        ("[a:Macy's] lost [a:its] sign.", "Macy's lost Macy's sign."),
        ("[a:Ahab] ran; [a:the captain]'s hat fell.", "Ahab ran; Ahab's hat fell."),
        ("[a:Ahab] ran; [a:the captain's] hat fell.", "Ahab ran; Ahab's hat fell."),
        ("[a:Ahab] says [a:he]'s ill.", "Ahab says Ahab's ill."),
        # Case
        ("[a:The captain] says [a:he] is ill.", "The captain says the captain is ill."),
        ("[a:My uncle] says [a:he] is ill.", "My uncle says my uncle is ill."),
        ("See [a:the captain]? [a:He] is ill.", "See the captain? The captain is ill."),
        ('Ask [a:the cook]. "[a:His] soup!"', 'Ask the cook. "The cook\'s soup!"'),
        ('Tom: "[a:The cook] lost [a:it]."', 'Tom: "The cook lost the cook."'),
        ("In [a:The Hague] they love [a:it].", "In The Hague they love The Hague."),
        ("Ask [a:the cook]. [a:Tom Reed] left.", "Ask the cook. The cook left."),
        ("Ask [a:the cook]\n\n[a:Reed] left.", "Ask the cook\n\nThe cook left."),
        ("[a:The cook] ran. See, [a:Reed] fell.", "The cook ran. See, the cook fell."),
        ("Buy an [a:iPod]. [a:It] sings.", "Buy an iPod. iPod sings."),
        # Nesting
        ("[b:[a:Mary] and [a:her] dog] ran.", "Mary and Mary's dog ran."),
        (
            "[a:Mary] has [b:[a:her] dog]. [b:It] bit.",
            "Mary has Mary's dog. Her dog bit.",
        ),
        ("[b:Rex] ran. [a:Mary] met [b:[a:her] dog].", "Rex ran. Mary met Rex."),
        ("[a:The man who hid [a:his] hat] ran.", "The man who hid his hat ran."),
        # White space
        ("[a:Ahab]  said\t[a:he] \n left .", "Ahab  said\tAhab \n left ."),
        (
            "[a:Captain\nAhab] said [a:he] left.",
            "Captain\nAhab said Captain Ahab left.",
        ),
        ("", ""),
    ],
)
def test_text_is_resolved(text, expected):
    assert resolved_text(*marked(text)) == expected


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("PRP$", "Mary saw Mary's duck"), ("PRP", "Mary saw Mary duck")],
)
def test_a_tag_tells_a_possessive_from_an_object(tag, expected):
    vocab = spacy.blank("en").vocab
    doc = Doc(
        vocab, words=["Mary", "saw", "her", "duck"], tags=["NNP", "VBD", tag, "X"]
    )
    assert resolved_text(doc, [[doc[0:1], doc[2:3]]]).strip() == expected


def test_annotated_sentence_starts_count_for_case():
    words = ["the", "cook", "left", "Reed", "slept"]
    starts = [True, False, False, True, False]
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=starts)
    clusters = [[Span(doc, 0, 2), Span(doc, 3, 4)]]
    assert resolved_text(doc, clusters) == "the cook left The cook slept "
