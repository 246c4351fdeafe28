"""What changes while training goes on."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from spacy.util import registry, resolve_dot_names


def create_temperature_callback(
    start: float = 1.0, half_life: float = 10.0, name: str = "refreader"
) -> Callable[[Language, dict[str, Any]], None]:
    """A [training] before_update that cools the choice of the cell to overwrite.

    start (float): Temperature in the first epoch.
    half_life (float): Epochs until it has halved; it halves in steps, as in the paper.
    name (str): Of the component.
    """

    def set_temperature(nlp: Language, info: dict[str, Any]) -> None:
        temperature = start * 0.5 ** (info["epoch"] // half_life)
        for layer in nlp.get_pipe(name).model.walk():  # type: ignore[attr-defined]
            if "temperature" in layer.attrs:
                layer.attrs["temperature"] = temperature

    return set_temperature


def create_evaluate_each_epoch_callback() -> Callable[[Language], Language]:
    """An [initialize] after_init: scores come at least once an epoch, and once more
    after the first step.

    `eval_frequency` counts steps. On a small corpus there may be fewer than that in the
    whole training, and the best model would be that of the first step.
    """

    def lower_frequency(nlp: Language) -> Language:
        config = nlp.config.interpolate()
        training = config["training"]
        if training["max_epochs"] < 0:  # a corpus without an end
            return nlp
        (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
        batcher = registry.resolve({"batcher": training["batcher"]})["batcher"]
        n_steps = sum(1 for _ in batcher(corpus(nlp)))
        limits = [training["eval_frequency"], n_steps, training["max_steps"]]
        nlp.config["training"]["eval_frequency"] = min(n for n in limits if n)
        return nlp

    return lower_frequency
