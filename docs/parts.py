"""The generated parts of the pages: tables of scores, of settings and of commands.

cog calls these functions from comments in the pages; `make docs` renews all of them,
and a test checks that they are up to date.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Sequence
from functools import reduce
from importlib import import_module
from importlib.metadata import EntryPoint, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ForwardRef, get_args

import spacy
import srsly
import typer
from spacy.language import Language
from typer.cli import get_docs_for_click
from weasel.cli.document import project_document

from benchmarks.peers import PEERS
from benchmarks.peers import table as table_of_peers
from benchmarks.peers_quality import SCORES
from refreader_spacy.annotation.extensions import EXTENSIONS
from refreader_spacy.annotation.record import record
from refreader_spacy.cli import app
from refreader_spacy.cli.table import cluster_table, gap_table
from refreader_spacy.component import PACKAGED

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/refreader-spacy/refreader-spacy"
NONE = "not measured"
ALIASES = {
    "ReaderModel": "Model[list[Doc], list[Part]]",
    "Encoder": "Model[list[Doc], list[Floats2d]]",
    "Scorer": "Callable[..., dict[str, Any]]",
    "Scores": "dict[str, Any]",
    "Scheme": "str",
    "Array": "NDArray[float32]",
    "Longs": "NDArray[int64]",
    "Integers": "NDArray[integer]",
}
ARGUMENT = re.compile(r"^(\w+(?:, \w+)*) \((.+?)\): (.*)$")


# Scores


def metrics(name: str) -> dict[str, Any]:
    """The results of one measurement."""
    found: dict[str, Any] = srsly.read_json(ROOT / "metrics" / f"{name}.json")
    return found


def percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"


def scores_of_clusters() -> str:
    """CoNLL F1 and others of the general reader."""
    return cluster_table([r for r in _results() if "coref_f" in r.get("scores", {})])


def scores_of_gap() -> str:
    """GAP, beside the paper's table."""
    return gap_table([r for r in _results() if r.get("corpus") == "gap"])


def _results() -> list[dict[str, Any]]:
    paths = sorted((ROOT / "metrics").glob("*.json"))
    return [srsly.read_json(path) for path in paths]


def anaphors(name: str) -> str:
    """Recall and precision of links by the kind of anaphor, the best found first."""
    found = metrics(name)["scores"]["coref_per_anaphor"]
    rows = sorted(found.items(), key=lambda row: -row[1]["r"])
    return table(
        ("anaphor", "found", "right of those found"),
        [(kind, percent(each["r"]), percent(each["p"])) for kind, each in rows],
    )


def genres(name: str) -> str:
    """CoNLL F1 by kind of text, the best first."""
    found = metrics(name)["genres"]
    rows = sorted(found.items(), key=lambda row: -row[1]["coref_f"])
    return table(
        ("kind of text", "texts", "CoNLL F1"),
        [(k, str(each["n_docs"]), percent(each["coref_f"])) for k, each in rows],
    )


def genders(name: str) -> str:
    """GAP's F1 of pronouns of either gender, and their ratio."""
    scores = metrics(name)["scores"]
    rows = [
        ("a name is linked above the threshold", "gap"),
        ("a name is in the pronoun's cluster", "gap_clusters"),
    ]
    return table(
        ("GAP test", "masculine", "feminine", "feminine / masculine"),
        [
            (
                what,
                percent(scores[f"{key}_masc_f"]),
                percent(scores[f"{key}_fem_f"]),
                f"{scores[f'{key}_bias']:.3f}",
            )
            for what, key in rows
        ],
    )


def model_cards() -> str:
    """Links to the cards of all weights that came with a release."""
    cards = sorted((ROOT / "docs" / "models").glob("en_*.md"))
    default = PACKAGED["name"]
    return "\n".join(
        f"- [{card.stem}]({card.name}){', the default' * (card.stem == default)}"
        for card in cards
    )


def summary() -> str:
    """Quality, speed and size of this package and of others, in one table."""
    known = quality()
    names = list(SCORES)
    rows = [
        (
            _shown(system),
            *(
                percent(found["sets"][name]["f1"]) if name in found["sets"] else NONE
                for name in names
            ),
            f"{_words_per_second(found['sets'].values()):,.0f}",
            f"{found['megabytes']:,.0f} MB",
        )
        for system, found in known.items()
    ]
    speeds = {name: found["gap"] for name, found in metrics("peers").items()}
    rows += [
        (name, *[NONE] * len(names), f"{_words_per_second([gap]):,.0f}", "")
        for name, gap in speeds.items()
        if name not in known
    ]
    columns = [f"{name}, F1" for name in names]
    return table(("", *columns, "words/s, one core", "size"), rows)


def peers_notes() -> str:
    """What has to be known to compare the systems of `summary`."""
    notes = [
        f"- {_shown(system)}: {found['note']}."
        for system, found in quality().items()
        if found["note"]
    ]
    notes += [f"- {name}: {peer.note}." for name, peer in PEERS.items()]
    picture = "![F1 of clusters against words per second](peers-quality.svg)"
    return "\n".join([*notes, "", picture])


def _shown(system: str) -> str:
    return "refreader_spacy" if system == "refreader" else system


def quality() -> dict[str, Any]:
    """Systems with their real weights: size, and scores and times by set."""
    return {"refreader": _evaluated(), **metrics("peers_quality")}


def _evaluated() -> dict[str, Any]:
    """This package until `benchmarks.peers_quality --only refreader` has run.

    LitBank's evaluation counts single mentions, which others don't find.
    """
    scores = {
        "OntoGUM dev": metrics("package_ontogum")["scores"]["coref_f"],
        "GAP test": metrics("package_gap")["scores"]["gap_clusters_f"],
    }
    gap = metrics("speed")["gap"]
    taken = {"words": gap["words"], "seconds": gap["words"] / gap["words_per_second"]}
    return {
        "note": "",
        "megabytes": metrics("install")["install"]["package_megabytes"],
        "sets": {name: {"f1": f1, **taken} for name, f1 in scores.items()},
    }


def _words_per_second(found: Iterable[dict[str, float]]) -> float:
    sets = list(found)
    return sum(each["words"] for each in sets) / sum(each["seconds"] for each in sets)


def peers() -> str:
    """Speed and memory beside other packages."""
    return table_of_peers(metrics("peers"))


def speed() -> str:
    """Words per second, latency and memory of one process."""
    found = metrics("speed")
    per_word = found["novel"]["microseconds_per_word"]
    longest = max(map(int, per_word))
    words = found["gap"]["words_per_second"]
    rows = [
        ("short texts, many at once", f"{words:,.0f} words/s"),
        (f"a novel of {longest:,} words", _rate(per_word[str(longest)])),
        ("a stream, word by word", _rate(found["stream"]["microseconds_per_word"])),
        ("a short text, alone", f"{found['one']['median_ms']:.1f} ms (median)"),
        ("memory for the novel's clusters", f"{found['novel']['peak_mb']:.0f} MB"),
    ]
    return table(("", ""), rows)


def _rate(microseconds: float) -> str:
    return f"{1e6 / microseconds:,.0f} words/s"


def install_sizes() -> str:
    """What a fresh environment takes."""
    found = metrics("install")["install"]
    return (
        f"From an empty environment to the first clusters: {found['seconds']:.0f} "
        f"seconds and {found['megabytes']:,.0f} MB, of which torch (CPU) is "
        f"{found['torch_megabytes']:,.0f} MB and this package with its weights "
        f"{found['package_megabytes']:,.0f} MB (`python -m benchmarks.install`)."
    )


def answer() -> str:
    """What `POST /annotate` answers to the request of its page."""
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    doc = nlp("In 1934 Ruth Calder opened a school. She led it.")
    text = json.dumps({**record("", doc), "id": None}, ensure_ascii=False, indent=2)
    # A mention on one line
    text = re.sub(r"\[\s+(\d+),\s+(\d+),\s+(\".*?\")\s+\]", r"[\1, \2, \3]", text)
    return f"```json\n{text}\n```"


def start_from() -> str:
    """The line of a config that goes on from the package's weights."""
    lines = ["```ini", "[initialize.components.refreader]"]
    return "\n".join([*lines, f'weights = "{PACKAGED["name"]}"', "```"])


# Names, types and settings


def api(*paths: str) -> str:
    """Functions, classes and methods, as `module:name`, with their arguments."""
    return "\n\n".join(_documented(path) for path in paths)


def registered(registry: str) -> str:
    """All that a config can name of a registry, by the names there."""
    points = _entry_points(f"spacy_{registry}")
    return "\n\n".join(_documented(point.value, point.name) for point in points)


def _entry_points(group: str) -> list[EntryPoint]:
    found = distribution("refreader-spacy").entry_points.select(group=group)
    return sorted(found, key=lambda point: point.name)


def _documented(path: str, name: str = "") -> str:
    module, _, place = path.partition(":")
    thing = reduce(getattr, place.split("."), import_module(module))
    name = name or place
    prose, said, returned = docstring(thing)
    parts = [f"### {name}", prose]
    if isinstance(thing, property):
        got = inspect.signature(thing.fget).return_annotation
        return "\n\n".join([*parts, f"Property: {kind(got)}"])
    signature = inspect.signature(thing)
    rows = [
        (f"`{p.name}`", kind(type_), default(p.default), text)
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
        for type_, text in (said.get(p.name, (p.annotation, "")),)
    ]
    if rows:
        parts.append(table(("Name", "Type", "Default", "Description"), rows))
    result = name if inspect.isclass(thing) else signature.return_annotation
    if result not in (None, "None", inspect.Signature.empty):
        parts.append(f"**Returns** {kind(result)} {returned}".rstrip())
    return "\n\n".join(parts)


def docstring(thing: Any) -> tuple[str, dict[str, tuple[str, str]], str]:
    """A docstring's prose, each argument's type and meaning, and what is returned."""
    prose: list[str] = []
    said: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in (inspect.getdoc(thing) or "").splitlines():
        if found := ARGUMENT.match(line):
            names = found[1].split(", ")
            said |= dict.fromkeys(names, (found[2], found[3]))
        elif names and line.startswith("    "):
            type_, text = said[names[0]]
            said |= dict.fromkeys(names, (type_, f"{text} {line.strip()}"))
        else:
            names = []
            prose.append(line)
    _, returned = said.pop("RETURNS", ("", ""))
    return "\n".join(prose).strip(), said, returned


def fields(*paths: str) -> str:
    """Named tuples and dataclasses: their fields and types."""
    parts = []
    for path in paths:
        module, _, name = path.partition(":")
        thing = getattr(import_module(module), name)
        prose, said, _ = docstring(thing)
        annotations = inspect.get_annotations(thing)
        rows = [
            (f"`{field}`", kind(type_), text or _described(thing, field))
            for field, annotation in annotations.items()
            for type_, text in (said.get(field, (annotation, "")),)
            if field != "model_config"
        ]
        parts += [f"### {name}", prose, table(("Name", "Type", "Description"), rows)]
    return "\n\n".join(parts)


def _described(thing: Any, field: str) -> str:
    """What a pydantic model says of its field."""
    fields = getattr(thing, "model_fields", {})
    return (field in fields and fields[field].description) or ""


def settings(factory: str) -> str:
    """A factory's settings, with their types, defaults and meaning."""
    meta = Language.get_factory_meta(factory)
    make = Language.factories[factory]
    signature, (_, said, _) = inspect.signature(make), docstring(make)
    rows = [
        (
            f"`{name}`",
            kind(signature.parameters[name].annotation),
            default(value),
            said[name][1],
        )
        for name, value in meta.default_config.items()
    ]
    return table(("Setting", "Type", "Default", "Description"), rows)


def extensions() -> str:
    """What is registered under `._.`, with types."""
    rows = [
        (
            f"`{owner.__name__}._.{name}`",
            kind(inspect.signature(getter).return_annotation),
            docstring(getter)[0].partition("\n\n")[0].replace("\n", " "),
        )
        for owner, name, getter in EXTENSIONS
    ]
    return table(("Attribute", "Type", "Description"), rows)


def kind(annotation: Any) -> str:
    """A type as it is written, without pipes, which end a table's cell."""
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, ForwardRef):  # a field of a named tuple
        annotation = annotation.__forward_arg__
    if not get_args(annotation):  # a class, or a type that is written as text
        annotation = getattr(annotation, "__name__", annotation)
    text = re.sub(r"\w+\.(?=\w)", "", str(annotation))
    text = re.sub(r"\w+", lambda found: ALIASES.get(found[0], found[0]), text)
    parts = text.split(" | ")
    is_union = all(part.count("[") == part.count("]") for part in parts)
    return f"`{('` or `' if is_union else ' or ').join(parts)}`"


def default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, dict):
        return f"`{next(iter(value.values()))}`"
    return f"`{value!r}`"


def commands() -> str:
    """All commands of the command line, with their options."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="refreader")
    text = re.sub(r"^```console\n\$ (.*)\n```$", r"`\1`", text, flags=re.MULTILINE)
    return text.partition("\n")[2].replace("<", "&lt;").strip()


def project() -> str:
    """The project file's own documentation, as spaCy writes it."""
    with TemporaryDirectory() as folder:
        # Beside nothing but itself: it links to assets that happen to be there
        Path(folder, "project.yml").write_text((ROOT / "project.yml").read_text("utf8"))
        page = Path(folder, "page.md")
        project_document(Path(folder), page, no_emoji=True)
        text = re.sub("<!-- .*? -->", "", page.read_text("utf8")).strip()
    address = f"{REPOSITORY}/blob/main/project.yml"
    return text.partition("\n")[2].replace("(project.yml)", f"({address})").strip()


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
