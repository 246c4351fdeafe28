"""What changes while training goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spacy.language import Language


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
