"""A text's state as plain data, and back, checked in every number that is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from refreader_spacy.errors import Errors
from refreader_spacy.paper.decisions import LONGEST, Decisions, OpenMention
from refreader_spacy.paper.weights import NumpyState
from refreader_spacy.reader.saved_state import LARGEST, checked_array, checked_number

COUNTS = ("n_tokens", "n_mentions", "n_entities")
OF_CELLS = ("kept", "stored", "links")


def state_to_saved(network: NumpyState, decisions: Decisions) -> dict[str, Any]:
    """All of a state, as arrays and numbers."""
    mention = decisions.open
    return {
        **network._asdict(),
        **{name: getattr(decisions, name) for name in ("holders", "shares", *COUNTS)},
        "open": None if mention is None else vars(mention),
    }


def state_from_saved(
    start: NumpyState, saved: dict[str, Any]
) -> tuple[NumpyState, Decisions]:
    """A state again; anything else is a ValueError.

    start (NumpyState): The state before a text's first token.
    """
    fields = start._asdict().items()
    network = NumpyState(*(checked_array(saved, name, like) for name, like in fields))
    decisions = Decisions(len(start.salience))
    for name in ("holders", "shares"):
        setattr(decisions, name, checked_array(saved, name, getattr(decisions, name)))
    for name in COUNTS:
        setattr(decisions, name, checked_number(saved, name, LARGEST))
    if saved["open"] is not None:
        decisions.open = _open_mention(saved["open"], decisions)
    amounts = np.concatenate((network.salience, decisions.shares))
    if (
        (amounts < 0).any()
        or (decisions.holders < -1).any()
        or (decisions.holders >= decisions.n_entities).any()
    ):
        raise ValueError(Errors.R257.format(name="ranges"))
    return network, decisions


def _open_mention(saved: dict[str, Any], decisions: Decisions) -> OpenMention:
    n_tokens, shares = decisions.n_tokens, decisions.shares
    for name, kind in (("new", float), ("capital", bool)):
        if not isinstance(saved[name], kind):
            raise ValueError(Errors.R257.format(name=name))
    mention = OpenMention(
        checked_number(saved, "start", n_tokens),
        checked_number(saved, "end", n_tokens),
        saved["capital"],
        checked_number(saved, "cell", len(shares) - 1),
        saved["new"],
        *(checked_array(saved, name, shares) for name in OF_CELLS),
    )
    length = mention.end - mention.start
    if (
        mention.end != n_tokens
        or not 0 < length <= LONGEST
        or not 0 <= mention.new <= 1
    ):
        raise ValueError(Errors.R257.format(name="open"))
    return mention
