"""The notebook in docs/: it runs, it draws, and nothing that it printed is kept."""

from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "walkthrough.ipynb"


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(NOTEBOOK, as_version=4)


def test_no_output_is_kept(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not c.outputs and c.execution_count is None for c in cells)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_notebook_runs_and_draws(notebook):
    nbclient = pytest.importorskip("nbclient")
    nbclient.NotebookClient(notebook, timeout=300, startup_timeout=300).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    pictures = [
        out.data["text/html"]
        for out in outputs
        if out.output_type == "execute_result" and "text/html" in out.data
    ]
    assert ["<mark" in picture for picture in pictures] == [True, False]
    assert "<svg" in pictures[1]
    printed = "".join(out.text for out in outputs if out.output_type == "stream")
    assert "'She' means 'Ruth Calder'" in printed
    assert "LinkMade" in printed
