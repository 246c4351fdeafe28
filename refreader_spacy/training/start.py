"""Where training starts, if not from fresh weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spacy.language import Language
from spacy.util import ensure_path, load_model

from refreader_spacy.errors import Errors
from refreader_spacy.paper.inference import ReaderModel


def create_start_from_callback(
    pipeline: Path | None = None, name: str = "refreader", memory: bool = True
) -> Callable[[Language], Language]:
    """An [initialize] after_init that gives a component the weights of another's.

    What is before it in the pipeline is not touched, as `source` would: spaCy leaves a
    component that is sourced without the transformer it listens to unlinked.

    pipeline (Path | None): A trained pipeline's folder; None starts from fresh weights.
    name (str): Of the component, here and there.
    memory (bool): Take the memory's weights too. False if they were trained without:
        then words and the recurrent unit are taken, and the memory begins anew.
    """

    def start_from(nlp: Language) -> Language:
        if pipeline is not None:
            weights = ensure_path(pipeline) / name / "model"
            if not weights.is_file():
                raise ValueError(Errors.R315.format(path=weights))
            model: ReaderModel = nlp.get_pipe(name).model  # type: ignore[attr-defined]
            if model.layers[-1].name == "name_reader":
                return _start_reading(nlp, model, ensure_path(pipeline), name)
            model.from_bytes(weights.read_bytes())
            if not memory:
                _, layer = model.layers
                layer.shims[0]._model.renew_memory()
        return nlp

    return start_from


def _start_reading(
    nlp: Language, model: ReaderModel, pipeline: Path, name: str
) -> Language:
    """Give a reader of names the words and the recurrent unit of a language model."""
    source: ReaderModel = load_model(pipeline, vocab=nlp.vocab).get_pipe(name).model  # type: ignore[attr-defined]
    if source.layers[-1].name == model.layers[-1].name:
        model.from_bytes(source.to_bytes())
        return nlp
    words, (encoder,) = source.layers[0], model.layers[0].layers
    encoder.from_bytes(words.to_bytes())
    network, reader = (m.layers[-1].shims[0]._model for m in (model, source))
    cell = reader.recurrence.state_dict()
    network.recurrence.load_state_dict({f"{k}_l0": v for k, v in cell.items()})
    network.initial_hidden.data.copy_(reader.initial_hidden.data)
    return nlp
