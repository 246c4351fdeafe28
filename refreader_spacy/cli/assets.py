"""`refreader assets`: take the project's assets from a folder, or check them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from weasel.util import load_project_config  # type: ignore[import-untyped]

from refreader_spacy.corpora.assets import check_asset, place_asset
from refreader_spacy.errors import Errors

Asset = dict[str, str]


def assets(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A folder laid out like the project's assets, e.g. with gap/ in it.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Take the project's assets from a folder, and check them.

    Each asset of project.yml, and what its commands make of assets, is looked for at
    the same place in the folder, compared with its checksum and copied; `spacy project
    assets` then downloads only the rest. Without --from, list what is in place.

    Example: refreader assets --from ../data
    """
    console = Console(stderr=True)
    wanted = wanted_assets(load_project_config(Path.cwd()))
    if source and not any(counterpart(source, asset).exists() for asset in wanted):
        example = counterpart(source, wanted[0])
        raise ValueError(Errors.R181.format(folder=source, example=example))
    for asset in track(
        wanted,
        description="Assets",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ):
        typer.echo(f"{asset['dest']}: {settle(asset, source)}")


def wanted_assets(project: dict[str, Any]) -> list[Asset]:
    """The assets that project.yml downloads, and those that its commands make."""
    made = [
        path for command in project["commands"] for path in command.get("outputs", [])
    ]
    in_assets = [{"dest": path} for path in made if Path(path).is_relative_to("assets")]
    return [*project["assets"], *in_assets]


def settle(asset: Asset, source: Path | None) -> str:
    """Copy one asset to its place or check it there, and return what was done."""
    dest, checksum = Path(asset["dest"]), asset.get("checksum")
    if source and counterpart(source, asset).exists():
        copied = place_asset(counterpart(source, asset), dest, checksum)
        return "copied" if copied else "already in place"
    if not dest.exists() or (dest.is_dir() and not any(dest.iterdir())):
        return f"not in {source}" if source else "not in place"
    if checksum:
        check_asset(dest, checksum)
    return "already in place"


def counterpart(source: Path, asset: Asset) -> Path:
    """The path of an asset in a folder laid out like assets/."""
    return source / Path(asset["dest"]).relative_to("assets")
