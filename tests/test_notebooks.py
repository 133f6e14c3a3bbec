"""The examples as notebooks: the same code as the scripts, and it runs."""

from __future__ import annotations

import ast
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebooks_are_those_of_the_scripts(script: Path) -> None:
    made = runpy.run_path(str(ROOT / "bench" / "notebooks.py"))
    path = script.parent / "notebooks" / f"{script.stem}.ipynb"
    assert path.read_text(encoding="utf-8") == made["as_text"](script), (
        "write them again: python bench/notebooks.py"
    )
    code = [
        "".join(cell["source"])
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "code"
    ]
    body = ast.parse(script.read_text()).body[1:]  # without the docstring
    assert ast.dump(ast.parse("\n".join(code))) == ast.dump(ast.Module(body, []))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
@pytest.mark.filterwarnings("default")
def test_notebooks_run(script: Path, tmp_path: Path) -> None:
    nbformat: Any = pytest.importorskip("nbformat")
    nbclient: Any = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(script.parent / "notebooks" / f"{script.stem}.ipynb", as_version=4)
    nbformat.validate(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert any(out["output_type"] == "stream" and out["name"] == "stdout" for out in outputs)
