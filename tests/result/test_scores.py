from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import cgscore


def test_regression_and_csv(cloud: tuple[Any, Any], tmp_path: Path) -> None:
    X, _ = cloud
    s = cgscore.score(X, X[:, 0], task="regression")
    s.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(back.table, s.table)
    assert back.complexity == s.complexity
    s.to_csv(tmp_path / "s.csv")
    table = pd.read_csv(tmp_path / "s.csv", dtype=str)  # what pandas makes of digits may differ
    for name in ("given_label", "cg", "partial", "predicted_label"):
        assert table[name].map(float).tolist() == s.table[name].tolist()
    assert list(table) == list(s.table)
