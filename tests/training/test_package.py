"""The names that `cgscore.training` offers, and the order of its parts."""

from __future__ import annotations

import ast
import types
from pathlib import Path

import pytest

from cgscore import training

SOURCE = Path(training.__file__).parent

#: Each part may import those before it.
PARTS = ("networks", "models", "loop", "scores", "presets", "shared_runs", "theory")


def test_all_names_load() -> None:
    assert set(training.__all__) == set(training._HOMES) <= set(dir(training))
    for name in training.__all__:
        assert not isinstance(getattr(training, name), types.ModuleType)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        training.nothing  # noqa: B018


@pytest.mark.parametrize("part", PARTS)
def test_parts_import_one_way(part: str) -> None:
    allowed = PARTS[: PARTS.index(part) + 1]
    paths = list((SOURCE / part).glob("*.py")) or [SOURCE / f"{part}.py"]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.startswith("cgscore.training"):
                assert module.split(".")[2] in allowed, f"{path.name} imports {module}"
