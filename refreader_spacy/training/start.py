"""Where training starts, if not from fresh weights."""

from collections.abc import Callable
from pathlib import Path

from spacy.language import Language
from spacy.util import ensure_path

from refreader_spacy.errors import Errors
from refreader_spacy.protocol import ReaderModel
from refreader_spacy.reader.model import shim_of


def create_start_from_callback(
    pipeline: Path | None = None, name: str = "refreader", memory: bool = True
) -> Callable[[Language], Language]:
    """An [initialize] after_init that gives a component the weights of another's.

    What is before it in the pipeline is not touched, as `source` would: spaCy leaves a
    component that is sourced without the transformer it listens to unlinked.

    pipeline (Path | None): A trained pipeline's folder; None starts from fresh weights.
    name (str): Of the component, here and there.
    memory (bool): Take the memory's weights too. False is for the paper's reader, if
        they were trained without: then words and the recurrent unit are taken, and the
        memory begins anew.
    """

    def start_from(nlp: Language) -> Language:
        if pipeline is not None:
            weights = ensure_path(pipeline) / name / "model"
            if not weights.is_file():
                raise ValueError(Errors.R315.format(path=weights))
            model: ReaderModel = nlp.get_pipe(name).model  # type: ignore[attr-defined]
            model.from_bytes(weights.read_bytes())
            if not memory:
                shim = shim_of(model)
                shim._model.renew_memory()
                shim.changed()
        return nlp

    return start_from
