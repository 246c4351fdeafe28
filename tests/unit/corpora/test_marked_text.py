import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refreader_spacy.corpora.document import GoldMention
from refreader_spacy.corpora.marked_text import read_marked, without_brackets

TEXTS = """
### e-mail
[p1 [p2 My] sister, [p1 Ada]], left. [p1 She] took [j3 [p2 my]
bike].

[7 It] was gone, [7 it] was.

### chat
Bo: Nothing.
"""


def read(nlp, folder, text):
    path = folder / "mails.marked.txt"
    path.write_text(text, "utf8")
    return list(read_marked(path, nlp))


def test_brackets_become_mentions_with_types(nlp, tmp_path):
    nlp.add_pipe("sentencizer")
    mail, chat = read(nlp, tmp_path, TEXTS)
    assert (mail.id, mail.genre, mail.scheme) == ("mails_1", "e-mail", "gum")
    assert (chat.id, chat.genre, chat.entities) == ("mails_2", "chat", {})
    pairs = zip(mail.words, mail.spaces, strict=True)
    text = "".join(word + " " * space for word, space in pairs)
    assert text == ("My sister, Ada, left. She took my\nbike.\n\nIt was gone, it was.")
    assert [mail.words[i] for i in mail.sentence_starts] == ["My", "She", "bike", "It"]
    found = {
        entity: [" ".join(mail.words[m.start : m.end]) for m in mentions]
        for entity, mentions in mail.entities.items()
    }
    assert found == {
        "p1": ["My sister , Ada", "Ada", "She"],
        "p2": ["My", "my"],
        "j3": ["my \n bike"],
        "7": ["It", "it"],
    }
    assert {m.label for m in mail.entities["p1"]} == {"person"}
    assert {m.label for m in mail.entities["7"]} == {""}


def test_only_of_a_name_within_its_own_mention_ontonotes_is_not_known(nlp, tmp_path):
    (mail, _) = read(nlp, tmp_path, TEXTS)
    known = {e: {m.in_ontonotes for m in ms} for e, ms in mail.entities.items()}
    assert known == {"p1": {None}, "p2": {True}, "j3": {True}, "7": {True}}


@pytest.mark.parametrize("text", ["[p1 a] " * 30_000, "\n" * 200_000 + "a"])
def test_many_mentions_and_lines_take_linear_time(nlp, tmp_path, text):
    started = time.process_time()
    assert len(read(nlp, tmp_path, text)) == 1
    assert time.process_time() - started < 5


def test_a_text_needs_no_heading(nlp, tmp_path):
    (document,) = read(nlp, tmp_path, "[p1 Ann] left.\n")
    assert document.entities == {"p1": [GoldMention(0, 1, None, "person", True)]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ann [p1 left.", "line 3: a bracket is never closed in 'Ann"),
        ("\nAnn] left.", "line 4: a bracket closes that was never opened"),
        ("[Ann] left.", "line 3: a bracket without an entity's name in '.Ann"),
        ("[p Ann] left.", "line 3: a bracket without an entity's name"),
        ("[z1 Ann] left.", "line 3: a bracket without an entity's name"),
        ("[p1 ] left.", "line 3: a mention without words"),
        ("[p1 [p2 ]] left.", "line 3: a mention without words"),
    ],
)
def test_brackets_that_do_not_match_are_said_with_their_line(
    nlp, tmp_path, text, message
):
    with pytest.raises(ValueError, match=rf"R419.*mails\.marked\.txt, {message}"):
        read(nlp, tmp_path, f"### note\n\n{text}\n")


words = st.lists(st.sampled_from(["Ann", "the", "key", "it", "\n"]), min_size=1)


@given(st.recursive(words, lambda inside: st.lists(inside | words, min_size=1)))
def test_marks_and_text_come_apart(tmp_path_factory, parts):
    """Every list within the outermost is a mention of what it holds."""
    mentions = []

    def mark(part, depth=0):
        if isinstance(part, str):
            return part, part
        marked, plain = zip(*(mark(p, depth + 1) for p in part), strict=True)
        text = " ".join(plain)
        if not depth or not text.strip():
            return " ".join(marked), text
        mentions.append(text)
        return f"[p1 {' '.join(marked)}]", text

    marked, plain = mark(parts)
    text, found = without_brackets(marked, tmp_path_factory.getbasetemp(), 1)
    assert text == plain
    assert sorted(text[m.start : m.end] for m in found) == sorted(mentions)
