"""`python -m refreader_spacy`: the command line."""

from refreader_spacy.cli import app

app(prog_name="refreader")
