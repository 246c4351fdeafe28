"""The wheel that `spacy package` makes, in an environment that has never seen it."""

import json
import site
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
from spacy.cli.package import package

TEXT = "Bo told Ann Lee that he was late."
ANNOTATE = """
import json, sys
import en_refreader_test
pipeline = en_refreader_test.load()
doc = pipeline(sys.argv[1])
(part,) = pipeline.get_pipe("refreader").predict([doc])
clusters = [[span.text for span in cluster] for cluster in doc._.coref_clusters]
probability = part.mentions.probability.tolist()
print(json.dumps([clusters, doc._.resolved_text, probability]))
"""


def make_venv(folder: Path) -> str:
    """An environment that borrows what is installed here, so nothing is downloaded."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    borrowed = [
        f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()
    ]
    (packages / "borrowed.pth").write_text("\n".join(borrowed))
    return str(folder / "bin" / "python")


# spaCy leaves the files open that it writes.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_wheel_installs_and_annotates(reader_nlp, tmp_path):
    reader_nlp.get_pipe("refreader").threshold = 0.0
    reader_nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "packages").mkdir()
    package(
        tmp_path / "pipeline",
        tmp_path / "packages",
        name="refreader_test",
        version="1.2.3",
        create_sdist=False,
        create_wheel=True,
    )
    (meta,) = tmp_path.glob("packages/*/meta.json")
    (needed,) = json.loads(meta.read_text())["requirements"]
    assert needed.startswith("refreader-spacy>=")
    (wheel,) = tmp_path.glob("packages/*/dist/*.whl")
    python = make_venv(tmp_path / "venv")
    install = ["--python", python, "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "-q", *install], check=True)
    run = [python, "-c", ANNOTATE, TEXT]
    found = subprocess.run(
        run, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    doc = reader_nlp(TEXT)
    (part,) = reader_nlp.get_pipe("refreader").predict([doc])
    clusters, text, probability = json.loads(found.stdout)
    assert clusters
    assert clusters == [[span.text for span in each] for each in doc._.coref_clusters]
    assert text == doc._.resolved_text
    np.testing.assert_allclose(probability, part.mentions.probability, rtol=1e-5)
