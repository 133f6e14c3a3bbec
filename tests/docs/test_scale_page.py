"""The code of docs/scale.md, on features that a reader would bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.docs.pages import DOCS, blocks


def test_the_page_runs(cloud: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cloud
    np.save(tmp_path / "features.npy", X)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"y": y}
    (block,) = (block for block in blocks(DOCS / "scale.md") if block.language == "python")
    exec(block.text, names)
    scores = names["s"]
    assert scores.meta["method"] == "lowrank"
    assert len(scores.table) == len(y)
    assert any((tmp_path / "half-done").iterdir())
