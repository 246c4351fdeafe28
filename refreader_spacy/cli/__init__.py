"""The command line: one command per file, each parses, calls and prints."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from refreader_spacy.cli.annotate import annotate
from refreader_spacy.cli.assets import assets
from refreader_spacy.cli.baseline import baseline
from refreader_spacy.cli.characters import characters
from refreader_spacy.cli.compare import compare
from refreader_spacy.cli.convert import convert
from refreader_spacy.cli.corpus import corpus
from refreader_spacy.cli.distill import distill
from refreader_spacy.cli.evaluate import evaluate
from refreader_spacy.cli.gap import gap
from refreader_spacy.cli.init_config import init_config
from refreader_spacy.cli.perplexity import perplexity
from refreader_spacy.cli.pretrain import pretrain
from refreader_spacy.cli.render import render
from refreader_spacy.cli.sample import sample
from refreader_spacy.cli.score import score
from refreader_spacy.cli.seeds import seeds
from refreader_spacy.cli.serve import serve
from refreader_spacy.cli.table import table
from refreader_spacy.cli.threshold import threshold
from refreader_spacy.cli.weights import weights
from refreader_spacy.cli.wikipedia import wikipedia


class OneLineErrors(TyperGroup):
    """Expected errors as one line on stderr with exit code 1; bugs keep their trace."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # `head` has closed the pipe; Typer exits quietly
        except (ValueError, OSError) as error:
            typer.secho(f"refreader: {in_one_line(error)}", err=True, fg="red")
            raise typer.Exit(1) from error


def in_one_line(error: Exception) -> str:
    """An error's message in one line, a file's name first."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    """Print the package's version and end."""
    if wanted:
        typer.echo(f"refreader-spacy {version('refreader-spacy')}")
        raise typer.Exit


@app.callback()
def main(
    show: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Incremental coreference for spaCy: annotate, draw, train and evaluate."""


for command in (
    annotate,
    characters,
    render,
    serve,
    sample,
    assets,
    wikipedia,
    corpus,
    convert,
    init_config,
    distill,
    threshold,
    perplexity,
    evaluate,
    score,
    gap,
    baseline,
    compare,
    table,
    weights,
):
    app.command()(command)
# Settings of their config may be given as well, as to `spacy train`.
with_settings = {"allow_extra_args": True, "ignore_unknown_options": True}
app.command(context_settings=with_settings)(pretrain)
app.command(context_settings=with_settings)(seeds)
