"""Write the examples as notebooks.

::

    python bench/notebooks.py             # examples/NAME.py -> examples/notebooks/NAME.ipynb

The docstring becomes text, and statements that no blank line separates become a cell. Notebooks are
written without output; `tests/test_notebooks.py` executes them.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def notebook(script: Path) -> dict[str, Any]:
    """A notebook with the text and the code of a script."""
    source = script.read_text(encoding="utf-8")
    title = script.stem.replace("_", " ").capitalize()
    text = ast.get_docstring(ast.parse(source)) or ""
    cells = [_cell("markdown", f"# {title}\n\n{text}", 0)]
    cells += [_cell("code", code, number) for number, code in enumerate(code_cells(source), 1)]
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def code_cells(source: str) -> list[str]:
    """The code of a script in pieces, cut at blank lines between statements."""
    lines = source.splitlines()
    statements = [
        node
        for node in ast.parse(source).body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    pieces: list[list[str]] = []
    end = -1
    for node in statements:
        decorators = getattr(node, "decorator_list", [])
        start = min([node.lineno, *(one.lineno for one in decorators)]) - 1
        between = lines[end:start] if end >= 0 else [""]
        if any(not line.strip() for line in between):
            pieces.append([line for line in between if line.strip()])
        else:
            pieces[-1] += between
        end = node.end_lineno or start + 1
        pieces[-1] += lines[start:end]
    return ["\n".join(piece) for piece in pieces]


def _cell(kind: str, source: str, number: int) -> dict[str, Any]:
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = source.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **more}


def as_text(script: Path) -> str:
    """The file of a notebook."""
    return json.dumps(notebook(script), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    folder = EXAMPLES / "notebooks"
    folder.mkdir(exist_ok=True)
    for script in sorted(EXAMPLES.glob("*.py")):
        (folder / f"{script.stem}.ipynb").write_text(as_text(script), encoding="utf-8")
        print(folder / f"{script.stem}.ipynb")


if __name__ == "__main__":
    main()
