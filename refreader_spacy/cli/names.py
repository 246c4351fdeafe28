"""`refreader names`: which first names are a man's and which a woman's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from refreader_spacy.corpora.biographies import given_names, read_articles
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.lang.en.words import words

LEAST, CLEAR = 3, 10  # bearers, and how many times those of the other gender
ALSO_SOMETHING_ELSE = words(
    "Abu Al Art Austin Bin Boston Brooklyn Cairo Carmel Carolina Chad Charlotte "
    "Chase Dallas De Denver Du El Florence Georgia Grant Houston Ibn Ion Israel "
    "Jackson Jordan La Le Lincoln Madison May Milan Pan Paris Rio San Santiago Sofia "
    "Sri Sydney Trip Troy Van Victoria Virginia Von Washington Will"
)


def names(
    articles: Annotated[
        Path, typer.Argument(help="Biographies: a line `= Name =`, then paragraphs.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .json file.")],
) -> None:
    """List first names whose bearers in biographies are all but always of one gender.

    For the maintainers of this package, which uses them to keep "he" and Mary apart.

    Example: refreader names assets/wiki_bio/wiki_bio.txt.xz -o
    refreader_spacy/lang/en/given_names.json
    """
    if not articles.exists():
        raise ValueError(Errors.R013.format(path=articles))
    found = given_names(read_articles(articles), least=LEAST, clear=CLEAR)
    listed = {
        pronoun: " ".join(
            sorted(
                name
                for name, its in found.items()
                if its == gender
                and name.isalpha()
                and not name.isupper()
                and name not in ALSO_SOMETHING_ELSE
            )
        )
        for pronoun, gender in (("he", "M"), ("she", "F"))
    }
    with atomic_write(output) as draft:
        text = json.dumps(listed, ensure_ascii=False, indent=1)
        draft.write_text(text + "\n", "utf8")
    counts = {pronoun: len(text.split()) for pronoun, text in listed.items()}
    typer.echo(f"{counts['he']} men's and {counts['she']} women's names in {output}")
