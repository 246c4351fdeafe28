"""What the distribution promises spaCy and the shell, and what the promise costs."""

import subprocess
import sys
from importlib.metadata import distribution
from inspect import signature

import pytest
import spacy

ENTRY_POINTS = list(distribution("refreader-spacy").entry_points)
HEAVY = {
    *("transformers", "spacy_transformers", "curated_transformers", "ray"),
    *("matplotlib", "PIL", "fastapi", "starlette", "uvicorn", "flask"),
    *("pandas", "pyarrow", "scipy"),
}
LIGHT = """
import sys
import spacy
before = set(sys.modules)
import refreader_spacy
spacy.blank("en")
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
"""


def test_there_is_something_to_find():
    groups = {entry_point.group for entry_point in ENTRY_POINTS}
    assert {"console_scripts", "spacy_factories", "spacy_architectures"} <= groups


@pytest.mark.parametrize("entry_point", ENTRY_POINTS, ids=lambda each: each.value)
def test_every_entry_point_resolves(entry_point):
    assert callable(entry_point.load())


@pytest.mark.parametrize(
    "entry_point",
    [
        each
        for each in ENTRY_POINTS
        if each.group.startswith("spacy_") and each.name.startswith("refreader-spacy.")
    ],
    ids=lambda each: each.name,
)
def test_every_registered_name_is_found(entry_point):
    registry = entry_point.group.removeprefix("spacy_")
    assert spacy.registry.get(registry, entry_point.name) is entry_point.load()


@pytest.mark.parametrize(
    "entry_point",
    [each for each in ENTRY_POINTS if each.group.startswith("spacy_")],
    ids=lambda each: each.value,
)
def test_annotations_of_what_is_registered_are_types(entry_point):
    """The confection of spaCy before 3.8.14 can't resolve strings, so its modules have
    no `from __future__ import annotations`."""
    parameters = signature(entry_point.load()).parameters.values()
    assert [each for each in parameters if isinstance(each.annotation, str)] == []


def test_the_factory_is_known_to_a_blank_pipeline():
    assert "refreader" in spacy.blank("en").factory_names


def test_a_pipeline_next_to_the_package_loads_nothing_heavy():
    """Every `Language()` of anyone in the environment resolves our factory."""
    run = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "refreader_spacy" in loaded
    assert loaded & HEAVY == set()
