"""Write docs/everyday.md: what the package's weights say about everyday texts.

    OMP_NUM_THREADS=1 python docs/everyday.py

The judgement of a text is in everyday_texts.py, with a fingerprint of the clusters that
were judged; the page shows the fingerprint where there is none yet.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

import spacy
from everyday_texts import JUDGEMENTS, TEXTS, EverydayText
from spacy.language import Language
from spacy.tokens import Doc

PAGE = Path(__file__).with_name("everyday.md")
HEAD = """\
# Everyday texts

What the weights in the package say about texts of {n} kinds, written by us. `python \
docs/everyday.py` writes this page; a judgement is a reader's, and counts only as long \
as the clusters are the ones that were judged: *useful*, *empty* (little was found) or \
*embarrassing*. {counts}
"""


def main() -> None:
    """Read all texts and write the page."""
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader_speakers")
    nlp.add_pipe("refreader")
    sections = [section(nlp, text) for text in TEXTS]
    judged = Counter(judgement for judgement, _ in sections)
    counts = ", ".join(f"{n} {judgement}" for judgement, n in judged.most_common())
    head = HEAD.format(n=len(TEXTS), counts=f"So far: {counts}.")
    PAGE.write_text("\n".join([head, *(text for _, text in sections)]), "utf8")
    print(f"{PAGE}: {counts}")


def section(nlp: Language, text: EverydayText) -> tuple[str, str]:
    """The first word of the judgement, and a text with what was found."""
    doc = nlp(text.text)
    found = clusters(doc)
    fingerprint = sha256(repr(found).encode()).hexdigest()[:8]
    judged, judgement = JUDGEMENTS.get(text.kind, ("", ""))
    if judged != fingerprint:
        judgement = f"not judged ({fingerprint})"
    rows = [f"| {i} | {' · '.join(c)} |" for i, c in enumerate(found, start=1)]
    lines = [
        f"## {text.kind.capitalize()}\n",
        *(f"> {line}" for line in text.text.split("\n")),
        "",
        "| | mentions |\n|---|---|",
        *rows,
        "",
        f"Resolved: {' / '.join(doc._.resolved_text.split(chr(10)))}\n",
        f"Wanted: {text.wanted}.\n",
        f"Judgement: {judgement}\n",
    ]
    return judgement.split(",")[0].split(" (")[0], "\n".join(lines)


def clusters(doc: Doc) -> list[list[str]]:
    """The texts of all mentions, by cluster."""
    return [
        [" ".join(span.text.split()).replace("|", "/") for span in cluster]
        for cluster in doc._.coref_clusters
    ]


if __name__ == "__main__":
    main()
