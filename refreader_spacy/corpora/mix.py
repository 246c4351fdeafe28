"""A training corpus of several parts, some of which are read more than once."""

from collections.abc import Callable, Iterator
from pathlib import Path
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.training import Corpus, Example

from refreader_spacy.errors import Errors


def create_mix_v1(
    path: Path, times: dict[str, int] | None = None
) -> Callable[[Language], Iterator[Example]]:
    """Gold Docs of a .spacy file, or of all parts of a folder.

    They are read from disk once and kept, which training does anyway: spaCy goes
    through a corpus three times before the first update.

    path (Path): A part of a folder is a .spacy file, or a folder of them.
    times (dict[str, int] | None): How often a part is read in an epoch, by its name
        without .spacy; those that are not named are read once.
    """

    kept: WeakKeyDictionary[Language, dict[Path, list[Example]]] = WeakKeyDictionary()

    def read_mix(nlp: Language) -> Iterator[Example]:
        parts = kept.setdefault(nlp, {})
        for name, part in parts_of(Path(path)):
            n_times = (times or {}).get(name, 1)
            if n_times and part not in parts:
                parts[part] = list(Corpus(part)(nlp))
            for _ in range(n_times):
                yield from parts[part]

    return read_mix


def parts_of(path: Path) -> list[tuple[str, Path]]:
    """The names and paths of a corpus' parts."""
    if path.is_file():
        return [(path.stem, path)]
    parts = [
        (entry.stem if entry.is_file() else entry.name, entry)
        for entry in (sorted(path.iterdir()) if path.is_dir() else [])
        if entry.is_dir() or entry.suffix == ".spacy"
    ]
    if not parts:
        raise ValueError(Errors.R008.format(path=path))
    return parts
