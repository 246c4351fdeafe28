"""`refreader distill`: let a large reader label text for a small one."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import srsly
import torch
import typer
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from refreader_spacy.bulk.processes import map_in_processes, started_workers
from refreader_spacy.bulk.worker import WorkerStopped
from refreader_spacy.cli.pipeline import find_reader, load_pipeline, progress
from refreader_spacy.corpora.gap import read_gap
from refreader_spacy.corpora.gap_corpus import gap_examples
from refreader_spacy.corpora.plain_text import LONGEST, pieces
from refreader_spacy.corpora.span_groups import PREFIX, gold_clusters
from refreader_spacy.errors import Errors
from refreader_spacy.files import atomic_write
from refreader_spacy.tokenization import tokenize
from refreader_spacy.training.distillation import labelled_docs

PART = 64  # texts in a part, which is what an interrupted run loses at most


def distill(
    teacher: Annotated[
        str, typer.Argument(help="A trained pipeline, or weights of the package.")
    ],
    sources: Annotated[
        list[Path],
        typer.Argument(help="Plain text (.jsonl, .txt, also .xz or .gz), or GAP .tsv."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A folder for parts of a corpus.")
    ],
    words: Annotated[int, typer.Option(help="Words of each source, about.")] = 300_000,
    seed: Annotated[int, typer.Option(help="Which pieces are chosen.")] = 1,
    piece: Annotated[int, typer.Option(help="Words of a piece, about.")] = LONGEST,
    people: Annotated[
        bool,
        typer.Option("--people", help="Only pieces with he or she and two full names."),
    ] = False,
    n_process: Annotated[
        int,
        typer.Option("-n", "--n-process", min=1, help="Processes, each on its cores."),
    ] = 1,
    transformer: Annotated[
        str | None,
        typer.Option(help="The folder of the transformer below the package's weights."),
    ] = None,
) -> None:
    """Label text with a large reader, for a small one to learn.

    Links keep the teacher's probabilities. Of GAP's rows, all are labelled, and the
    pronoun's link is GAP's own. An interrupted run goes on where it stopped.

    Example: refreader distill en_mpnet plain_text/web.jsonl.xz -o corpus/labelled
    """
    load = partial(load_pipeline, teacher, transformer=transformer)
    nlp = load()
    made_by = {
        "teacher": _fingerprint(nlp),
        "sources": [source.name for source in sources],
        "words": words,
        "seed": seed,
        "piece": piece,
        "people": people,
    }
    manifest = output / "manifest.json"
    if manifest.exists() and srsly.read_json(manifest) != made_by:
        raise ValueError(Errors.R452.format(folder=output))
    output.mkdir(parents=True, exist_ok=True)
    srsly.write_json(manifest, made_by)
    docs: list[Doc] = []
    for source in sources:
        if source.suffix == ".tsv":
            docs += [e.reference for e in gap_examples(read_gap(source), nlp)]
        else:
            texts = pieces(source, words, seed, piece, people)
            docs += [tokenize(nlp.make_doc, text) for text in texts]
    random.Random(seed).shuffle(docs)
    jobs = [
        (output / f"part-{number:04}.spacy", docs[i : i + PART])
        for number, i in enumerate(range(0, len(docs), PART))
    ]
    docs.clear()  # a transformer's vectors stay on a Doc as long as it is there
    _label_all(load, jobs, n_process)
    typer.echo(_report(output, nlp), err=True)


def _label_all(
    load: Callable[[], Language],
    jobs: list[tuple[Path, list[Doc]]],
    n_process: int,
) -> None:
    """Label the parts that are missing."""
    total = len(jobs)
    jobs.reverse()
    left = (jobs.pop() for _ in range(total))
    missing = (
        (part, DocBin(docs=docs).to_bytes()) for part, docs in left if not part.exists()
    )
    setup = partial(_labeller, load, n_process)
    if n_process == 1:
        for _ in progress(map(setup(), missing), "Labelling", total):
            pass
        return
    # Spawned: a fork of a process that has used torch may hang
    with started_workers(setup, n_process, "spawn") as workers:
        done = map_in_processes(workers, missing)
        for found in progress(done, "Labelling", total):
            if isinstance(found, WorkerStopped):
                raise ValueError(Errors.R453)


def _labeller(
    load: Callable[[], Language], n_process: int
) -> Callable[[tuple[Path, bytes]], Path]:
    """What labels a part and writes it, in a process that has a share of the cores."""
    if n_process > 1:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // n_process))
    nlp = load()
    reader = find_reader(nlp)

    def label_part(job: tuple[Path, bytes]) -> Path:
        part, data = job
        docs = list(DocBin().from_bytes(data).get_docs(nlp.vocab))
        labelled = list(labelled_docs(_through(nlp, reader.name, docs), reader.model))
        with atomic_write(part) as draft:
            DocBin(docs=labelled).to_disk(draft)
        return part

    return label_part


def _through(nlp: Language, last: str, docs: list[Doc]) -> list[Doc]:
    """Docs that have gone through all pipes before the reader."""
    before: list[tuple[str, Any]] = nlp.pipeline[: nlp.pipe_names.index(last)]
    for _, pipe in before:
        docs = list(pipe.pipe(docs, batch_size=16))
    return docs


def _fingerprint(nlp: Language) -> str:
    reader = find_reader(nlp)
    return hashlib.sha256(reader.model.to_bytes()).hexdigest()[:16]


def _report(folder: Path, nlp: Language) -> str:
    counts: dict[str, Any] = {"texts": 0, "words": 0, "mentions": 0, "clusters": 0}
    for part in sorted(folder.glob("part-*.spacy")):
        for doc in DocBin().from_disk(part).get_docs(nlp.vocab):
            sizes = [len(cluster.spans) for cluster in gold_clusters(doc, PREFIX)]
            counts["texts"] += 1
            counts["words"] += len(doc)
            counts["mentions"] += sum(sizes)
            counts["clusters"] += sum(size > 1 for size in sizes)
    return f"{folder}: " + ", ".join(f"{n:,} {what}" for what, n in counts.items())
