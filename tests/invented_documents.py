"""Invented documents that formats are tried with."""

from hypothesis import strategies as st

from refreader_spacy.corpora.document import GoldDocument, GoldMention

WORDS = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters="|()-=#_%"),
    min_size=1,
    max_size=4,
)


@st.composite
def documents(draw: st.DrawFn) -> GoldDocument:
    """A text of a few sentences with entities, of which some mentions are nested."""
    document = GoldDocument(draw(st.sampled_from(["a", "b-1"])), "test")
    for _ in range(draw(st.integers(1, 3))):
        start = len(document.words)
        document.sentence_starts.append(start)
        for word in draw(st.lists(WORDS, min_size=1, max_size=5)):
            document.add_word(word, draw(st.booleans()))
        speaker = draw(st.sampled_from(["", "Ann", "Bo"]))
        document.add_turn(start, len(document.words), speaker)
    n = len(document.words)
    for entity in range(draw(st.integers(0, 4))):
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, n - 1))
            end = draw(st.integers(start + 1, n))
            mention = GoldMention(start, end, draw(st.integers(start, end - 1)))
            if not crosses(document.entities.get(str(entity), []), mention):
                document.add_mention(str(entity), mention)
    return document


def crosses(mentions: list[GoldMention], mention: GoldMention) -> bool:
    """Does it overlap with one of these without being inside or around it?"""
    return any(
        a.start < b.start < a.end < b.end
        for m in mentions
        for a, b in ((m, mention), (mention, m))
    )


def clusters(document: GoldDocument) -> list[list[tuple[int, int]]]:
    """Where the mentions of each entity are; names of entities don't matter."""
    return sorted(
        sorted((m.start, m.end) for m in ms) for ms in document.entities.values()
    )
