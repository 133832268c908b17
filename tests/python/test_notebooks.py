# SPDX-License-Identifier: Apache-2.0
"""Notebooks of docs/tutorials run as they stand; their cells assert what they tell."""

import re

import nbclient
import nbformat
import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "docs" / "tutorials"
#: What its outputs have to hold, by name.
NOTEBOOKS = {"bring-up": "application/vnd.jupyter.widget-view+json", "what-if": "image/png", "reproduce": "image/png"}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_reader_sees_what_the_notebook_shows(name, tmp_path):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", 4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", {})}
    assert NOTEBOOKS[name] in kinds


@pytest.mark.unit
def test_notebooks_are_kept_without_outputs_and_are_linked():
    files = sorted(FOLDER.glob("*.ipynb"))
    assert [file.stem for file in files] == sorted(NOTEBOOKS)
    index = (FOLDER / "README.md").read_text()
    for file in files:
        notebook = nbformat.read(file, 4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(not cell.outputs and cell.execution_count is None for cell in code), file
        assert any("assert " in cell.source for cell in code), file
        assert f"({file.name})" in index, file
        texts = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        for target in re.findall(r"\]\(([^)#]+)", texts):
            assert (FOLDER / target).exists(), (file, target)


def test_an_assertion_that_fails_ends_a_notebook(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 + 1 == 3")])
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="AssertionError"):
        nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
