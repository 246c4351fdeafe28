"""Settings of the pipe: in its `cfg`, checked, and a user's own survive a load."""

from __future__ import annotations

from typing import Any, Literal, get_args

import srsly

from refreader_spacy.errors import Errors

Scheme = Literal["auto", "all", "ontonotes", "gum", "litbank", "craft"]


class Setting:
    """An attribute of the pipe that lives in its `cfg`, where spaCy's tools look."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, pipe: Any, owner: type) -> Any:
        return pipe.cfg[self.name]

    def __set__(self, pipe: Any, value: Any) -> None:
        if self.name == "threshold" and not (
            isinstance(value, int | float) and 0 <= value <= 1
        ):
            raise ValueError(Errors.R007.format(name=pipe.name, found=value))
        if self.name == "scheme" and value not in get_args(Scheme):
            known = ", ".join(get_args(Scheme))
            raise ValueError(Errors.R017.format(known=known, found=value))
        pipe.cfg[self.name] = value


def with_overrides(cfg: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
    """The settings of a pipe that was loaded.

    One that is configured otherwise than the saved pipe's is the user's wish.

    cfg, saved (dict): The pipe's `cfg` before it was loaded, and as it was saved; what
        each was configured with is in it, as "configured".
    """
    configured = cfg["configured"]
    # Compared as it is saved: spaCy's JSON changes the last digit of some floats
    as_saved = srsly.json_loads(srsly.json_dumps(configured))
    return {
        name: saved[name]
        if value == saved["configured"].get(name, value)
        else configured[name]
        for name, value in as_saved.items()
    }
