"""The notebook in docs/: it runs, it draws, and its outputs are those that it has."""

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "walkthrough.ipynb"


def outputs(notebook) -> list[tuple[str, list]]:
    """What each cell printed and showed; a busy machine prints in more pieces."""
    cells = [cell.get("outputs", ()) for cell in notebook.cells]
    return [
        (
            "".join(out.text for out in cell if out.output_type == "stream"),
            [out.data for out in cell if out.output_type != "stream"],
        )
        for cell in cells
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_notebook_gives_what_it_shows():
    nbclient = pytest.importorskip("nbclient")
    kept = nbformat.read(NOTEBOOK, as_version=4)
    run = deepcopy(kept)
    nbclient.NotebookClient(run, timeout=300, startup_timeout=300).execute()
    assert outputs(run) == outputs(kept), "run `make docs`"
    shown = [out for _, showed in outputs(run) for out in showed]
    pictures = [out["text/html"] for out in shown if "text/html" in out]
    assert ["<mark" in picture for picture in pictures] == [True, False]
    assert "<svg" in pictures[1]
    printed = "".join(text for text, _ in outputs(run))
    assert "'She' means 'Ruth Calder'" in printed
    assert "LinkMade" in printed
