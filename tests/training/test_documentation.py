"""The Python code in the documentation of training and of features."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.training.test_shared_runs import TEST, TINY, X, Y


# a tiny network may give several examples the same features
@pytest.mark.filterwarnings("ignore:.* rows are identical:cgscore.errors.CGScoreWarning")
def test_code_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ten = replace(TINY, settings=replace(TINY.settings, epochs=10, batch_size=32), runs=1)
    monkeypatch.setattr("cgscore.training.preset", lambda *_: ten)
    monkeypatch.chdir(tmp_path)
    docs = Path(__file__).parents[2] / "docs"
    known: dict[str, Any] = {"X": X, "y": Y, **TEST}
    for block in re.findall(r"```python\n(.*?)```", (docs / "training.md").read_text(), re.S):
        exec(block, known)
    assert len(known["kept"]) == 24
    assert known["run"].records.loss.shape == (10, 40)
    pages = re.findall(r"```python\n(.*?)```", (docs / "features.md").read_text(), re.S)
    (block,) = (code for code in pages if "feature_space_scores" in code)
    exec(block.replace("run/", "other/"), known)
    assert list(known["by_epoch"]) == [1, 5, 10]
