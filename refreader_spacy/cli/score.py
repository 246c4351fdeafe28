"""`refreader score`: one annotation of a text against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from refreader_spacy.cli.score_tables import print_scores
from refreader_spacy.corpora.formats import Format, format_of, read_documents
from refreader_spacy.corpora.gold_docs import gold_doc
from refreader_spacy.corpora.splits import annotated_files
from refreader_spacy.errors import Errors
from refreader_spacy.evaluation.cluster_scorer import genre_scores, score_clusters

Singletons = Annotated[
    bool,
    typer.Option("--singletons", help="Count mentions that nothing else refers to."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print all scores as JSON, not as tables.")
]


def score(
    key: Annotated[Path, typer.Argument(help="What is right.")],
    response: Annotated[
        Path, typer.Argument(help="What was found, for the same documents.")
    ],
    singletons: Singletons = False,
    as_json: AsJson = False,
) -> None:
    """Score one annotation against another.

    Mentions, MUC, B³, CEAFe, LEA, BLANC and CoNLL F1.

    Each is a file of any format that `refreader convert` reads, or a folder of them.
    They have the same documents in the same order; tokens may differ. Clusters of one
    mention are left out of both, unless --singletons is given. On the left of the table
    mentions match if their spans are the same, on the right if their heads are.

    Example: refreader score litbank.conll found.conll --singletons
    """
    nlp = spacy.blank("en")
    keys, responses = read_docs(nlp, key), read_docs(nlp, response)
    if len(keys) != len(responses):
        raise ValueError(
            Errors.R113.format(
                key=key, n_key=len(keys), response=response, n_response=len(responses)
            )
        )
    examples = [Example(r, k) for k, r in zip(keys, responses, strict=True)]
    scores = score_clusters(examples, keep_singletons=singletons)
    genres = genre_scores(examples, keep_singletons=singletons)
    if as_json:
        result = {"n_docs": len(examples), "scores": scores, "genres": genres}
        typer.echo(srsly.json_dumps(result, indent=2))
    else:
        print_scores(scores, genres)


def read_docs(nlp: Language, path: Path) -> list[Doc]:
    """The documents of a file, or of all files of a folder by their names.

    Without empty ones, which CoNLL's formats don't have.
    """
    docs: list[Doc] = []
    for file in annotated_files([path]):
        if format_of(file) is Format.SPACY:
            docs += DocBin().from_disk(file).get_docs(nlp.vocab)
        else:
            documents = read_documents(file, nlp)
            docs += (gold_doc(each, nlp.vocab, keep_all=True) for each in documents)
    return [doc for doc in docs if len(doc)]
