"""The fixtures that more than one file of tests uses."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from hypothesis import HealthCheck, settings
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from refreader_spacy import register_extensions

ROOT = Path(__file__).parents[1]
TINY_TOK2VEC = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 8,
    "attrs": ["NORM"],
    "rows": [200],
    "include_static_vectors": False,
}

# A failure prints a decorator that reproduces it. No clock decides, since torch's first
# call is slow, and so is everything on a busy machine. Fixtures that property tests use
# are not changed by an example, or only by writing the same file again.
settings.register_profile(
    "refreader",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("refreader")


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "Multiply the number of examples of each property test by this."
    parser.addoption("--examples-factor", type=int, default=1, help=help)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    factor = config.getoption("--examples-factor")
    if factor == 1:
        return
    for test in {item.obj for item in items if "hypothesis" in item.keywords}:
        old = test._hypothesis_internal_use_settings
        more = settings(old, max_examples=factor * old.max_examples)
        test._hypothesis_internal_use_settings = more


@pytest.fixture(autouse=True, scope="session")
def extensions() -> None:
    """As if a refreader had been made: some tests read Docs without one."""
    register_extensions()


@pytest.fixture(autouse=True)
def seed() -> None:
    """Weights begin alike, whichever tests ran before in the same process."""
    fix_random_seed(0)


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def examples(nlp: Language) -> list[Example]:
    """Two texts with gold clusters, singletons included."""
    gold = {
        "Ann Lee met Bo because she was late.": [[(0, 2), (5, 6)], [(3, 4)]],
        "Bo told Ann Lee that he was late.": [[(0, 1), (5, 6)], [(2, 4)]],
    }
    examples = []
    for text, clusters in gold.items():
        doc = nlp.make_doc(text)
        for number, mentions in enumerate(clusters, start=1):
            spans = [doc[start:end] for start, end in mentions]
            doc.spans[f"coref_clusters_{number}"] = spans
        examples.append(Example(nlp.make_doc(text), doc))
    return examples


@pytest.fixture
def reader_nlp(nlp: Language, examples: list[Example]) -> Language:
    """A small reader of everything, with weights as they begin, which finds a lot."""
    fix_random_seed(0)
    model = {
        "@architectures": "refreader-spacy.EntityReader.v1",
        "tok2vec": TINY_TOK2VEC,
        "lookahead": False,
        "width": 8,
        "token_size": 8,
        "hidden_size": 8,
        "mention_size": 8,
        "score_size": 8,
        "n_cells": 4,
        "dropout": 0.0,
        "word_dropout": 0.0,
    }
    pipe = nlp.add_pipe("refreader", config={"model": model, "scheme": "all"})
    nlp.initialize(lambda: examples)
    shim = pipe.model.shims[0]
    shim._model.schemes.bias.data += 1.0  # so that it finds mentions, and links them
    shim._model.new.bias.data -= 1.0
    shim.changed()
    return nlp


@pytest.fixture
def paper_nlp(nlp: Language, examples: list[Example]) -> Language:
    """A small reader as the paper has it, with weights as they begin."""
    fix_random_seed(0)
    model = {
        "@architectures": "refreader-spacy.RefReader.v1",
        "tok2vec": TINY_TOK2VEC,
        "lookahead": False,
        "width": 8,
        "hidden_size": 8,
        "key_size": 4,
        "dropout": 0.0,
    }
    nlp.add_pipe("refreader", config={"model": model})
    nlp.initialize(lambda: examples)
    return nlp


@pytest.fixture
def data() -> Path:
    """The public data that lies beside the repository on some machines."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the data in {folder}")
    return folder


@pytest.fixture
def gap_file(tmp_path: Path) -> Path:
    """Six rows of the demo corpus, in GAP's format."""
    rows = (ROOT / "assets" / "demo" / "demo-development.tsv").read_text("utf8")
    path = tmp_path / "gap-six.tsv"
    path.write_text("".join(rows.splitlines(keepends=True)[:7]), "utf8")
    return path


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders with tiny transformers of three kinds, with weights as they begin."""
    pytest.importorskip("spacy_transformers")
    from tiny_transformers import save_tiny

    made: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            save_tiny(kind, made[kind])
        return made[kind]

    return folder
