"""The package uses public names of cgscore only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cgscore
import cgscore_paper

#: Modules whose names without an underscore may be imported, and the modules below them.
PUBLIC = (
    "cgscore.errors",
    "cgscore.execution.accelerator",
    "cgscore.execution.blas",
    "cgscore.execution.files",
    "cgscore.execution.machine",
    "cgscore.execution.progress",
    "cgscore.execution.sealed",
    "cgscore.kernel",
    "cgscore.typing",
    "cgscore.selection",
    "cgscore.solvers.sampled.shared_draws",
    "cgscore.solvers.sampled.subsample",
    "cgscore.training",
    "cgscore.valuation",
)
SOURCES = sorted(Path(cgscore_paper.__file__).parent.glob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Modules of cgscore, and names that are imported from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_only_public_names_are_imported(path: Path) -> None:
    for module, name in imports(path):
        if module.split(".")[0] == "cgscore":
            public = (
                name in (*cgscore.__all__, "__version__")
                if module == "cgscore"
                else any(f"{module}.".startswith(f"{name}.") for name in PUBLIC)
            )
            assert public, f"from {module} import {name}"
            assert name == "__version__" or not name.startswith("_")


def test_cgscore_does_not_import_it() -> None:
    """Except the command, which looks for it when it is called."""
    root = Path(cgscore.__file__).parent
    users = [
        path.relative_to(root).parts[0]
        for path in root.rglob("*.py")
        if any(module.startswith("cgscore_paper") for module, _ in imports(path))
    ]
    assert set(users) <= {"cli"}
