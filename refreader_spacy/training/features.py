"""Vectors of a frozen transformer, made once for a corpus and kept on disk."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import track
from spacy.language import Language
from spacy.util import ensure_path, resolve_dot_names

BATCH = 16  # Docs of similar length


def create_keep_features_callback(
    folder: Path, name: str = "transformer"
) -> Callable[[Language], Language]:
    """An [initialize] after_init that reads the transformer's vectors of both corpora.

    What is kept depends on text, transformer, layers and windows; where any of them is
    new, so is the file. A saved pipeline keeps nothing.

    folder (Path): For all transformers and corpora; it may be deleted at any time.
    name (str): Of the `transformer` component.
    """

    def keep_features(nlp: Language) -> Language:
        from refreader_spacy.transformer.pipe import use_store

        model = nlp.get_pipe(name).model  # type: ignore[attr-defined]
        store = use_store(model, ensure_path(folder))
        config = nlp.config.interpolate()
        names = [config["training"][key] for key in ("train_corpus", "dev_corpus")]
        examples = (
            eg for corpus in resolve_dot_names(config, names) for eg in corpus(nlp)
        )
        docs = store.missing([example.predicted for example in examples])
        docs.sort(key=len)
        console = Console(stderr=True)
        starts = range(0, len(docs), BATCH)
        what = f"Reading {len(docs)} texts"
        for start in track(starts, what, console=console, disable=not docs):
            model.predict(docs[start : start + BATCH])
        return nlp

    return keep_features
