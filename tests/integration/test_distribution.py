"""The wheel and the sdist of this package, in an environment outside the clone."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("distribution")  # one build for all
TEXT = "Ann Lee met Bo Hart because she was late. He laughed at her."
READ = """
import json, sys
from importlib.metadata import distribution
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("refreader")
doc = nlp(sys.argv[1])
for entry_point in distribution("refreader-spacy").entry_points:
    if "transformer" not in entry_point.value:
        entry_point.load()
ours = {m.__file__ for n, m in sys.modules.items() if n.startswith("refreader_spacy")}
print(json.dumps({
    "clusters": [[span.text for span in cluster] for cluster in doc._.coref_clusters],
    "links": [link.probability for link in doc._.coref_links],
    "files": sorted(file for file in ours if file),
}))
"""
COMPILED = (".so", ".pyd")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone, to know which files are the project's")
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    list_files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(list_files, cwd=ROOT, check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    return dist


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site-packages of an empty environment with the wheel.

    Dependencies are found where they are installed here. A path in a .pth file is
    searched last and its own .pth files aren't read, so our clone isn't found there.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    borrowed = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "borrowed.pth").write_text("\n".join(borrowed))
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", python_of(packages)]
    install = ["install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *install], check=True)
    return packages


def python_of(packages: Path) -> str:
    return str(packages.parents[2] / "bin" / "python")


def read_text(packages: Path) -> dict:
    """What the installed package finds; all of it must come from the wheel."""
    run = [python_of(packages), "-c", READ, TEXT]
    found = subprocess.run(
        run, check=True, capture_output=True, text=True, cwd=packages
    )
    result = json.loads(found.stdout)
    assert all(Path(file).is_relative_to(packages) for file in result["files"])
    return result


def test_the_wheel_reads_with_and_without_its_compiled_kernel(installed):
    compiled = read_text(installed)
    assert ["Ann Lee", "she", "her"] in compiled["clusters"]
    kernels = [file for file in compiled["files"] if file.endswith(COMPILED)]
    assert kernels, "where tests run, a compiler is expected"
    for file in kernels:
        Path(file).unlink()
    plain = read_text(installed)
    assert not any(file.endswith(COMPILED) for file in plain["files"])
    assert plain["clusters"] == compiled["clusters"]
    assert plain["links"] == pytest.approx(compiled["links"], abs=1e-4)


def test_the_command_is_installed(installed):
    command = [str(Path(python_of(installed)).with_name("refreader")), "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "annotate" in shown.stdout


def test_a_config_to_train_with_needs_the_wheel_only(installed, tmp_path):
    refreader = str(Path(python_of(installed)).with_name("refreader"))
    command = [refreader, "init-config", "config.cfg"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    written = (tmp_path / "config.cfg").read_text()
    assert 'weights = "en_' in written
    assert "vectors = null" in written


def test_the_wheel_has_data_and_no_sources_of_the_kernel(built):
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for ending in (
        "refreader_spacy/py.typed",
        "given_names.json",
        "page/static/index.html",
        "training/template.cfg",
        "/model",
        "licenses/LICENSE",
    ):
        assert any(name.endswith(ending) for name in names), ending
    assert not [name for name in names if name.endswith((".pyx", ".h", ".c"))]
    assert not [name for name in names if name.startswith("tests/")]


def test_the_sdist_has_all_that_a_build_needs(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    for ending in (
        "entity.h",
        ".pyx",
        "setup.py",
        "pyproject.toml",
        "LICENSE",
        "README.md",
    ):
        assert any(name.endswith(ending) for name in names), ending


def test_the_metadata_is_complete(installed):
    (info,) = installed.glob("refreader_spacy-*.dist-info")
    metadata = PathDistribution(info).metadata
    licences = metadata["License-Expression"].split(" AND ")
    for card in installed.glob("refreader_spacy/weights/*/card.json"):
        weights = json.loads(card.read_text("utf8"))["license"]
        assert weights.replace(" ", "-") in licences
    assert "MIT" in licences
    assert metadata["Author"]
    assert metadata["Summary"]
    assert metadata["Requires-Python"] == ">=3.10"
    urls = {url.split(", ")[0] for url in metadata.get_all("Project-URL")}
    assert urls == {"Homepage", "Documentation", "Changelog", "Issues", "Source"}


def test_all_that_is_imported_is_required(installed):
    (info,) = installed.glob("refreader_spacy-*.dist-info")
    required = PathDistribution(info).metadata.get_all("Requires-Dist")
    names = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in required}
    imported = set()
    for file in (ROOT / "refreader_spacy").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module.partition(".")[0])
    known = {*sys.stdlib_module_names, "refreader_spacy", *names}
    assert imported - known == set()
