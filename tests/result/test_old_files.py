"""Files that earlier versions saved still load, with the numbers they were saved with.

`files` holds one file at least of every format. ``format-1.parquet`` is the oldest: cgscore 0.1.0
wrote it. Those called format 2 are from the development of 0.3.0, and name the version before. A
release and a new format come with files of their own, which are never written again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.result.schema import FORMAT, KEY, META

FILES = Path(__file__).with_name("files")
N = 24


@dataclass(frozen=True)
class Expected:
    """What a file says of itself, and its first scores."""

    format: int
    version: str
    cg: tuple[float, float, float]
    complexity: dict[str, float]
    judged: bool

    @property
    def task(self) -> str:
        return "regression" if "target" in self.complexity else "classification"


_CLASSES = {"cat": 225.85356962555178, "dog": 200.7393262617412, "lynx": 147.8617428424783}
_CG = (0.1426010596065112, 16.706157949208105, 6.616340844876765)
_CLASSES_2 = {"cat": 225.85356962555173, "dog": 200.7393262617412, "lynx": 147.86174284247824}
_CG_2 = (0.14260105960651112, 16.706157949208094, 6.616340844876769)
_NUMBERS_CG = (1.6640709933485325, 2.574636727078731, 1.3213846452828366)
_NUMBERS = {"target": 162.20134006675676}

EXPECTED = {
    "format-1": Expected(1, "0.1.0", _CG, _CLASSES, judged=False),
    "format-1-regression": Expected(1, "0.2.0", _NUMBERS_CG, _NUMBERS, judged=False),
    "format-2": Expected(2, "0.2.0", _CG_2, _CLASSES_2, judged=True),
    "format-2-regression": Expected(2, "0.2.0", _NUMBERS_CG, _NUMBERS, judged=True),
    "0.3.0": Expected(2, "0.3.0", _CG_2, _CLASSES_2, judged=True),
    "0.3.0-regression": Expected(2, "0.3.0", _NUMBERS_CG, _NUMBERS, judged=True),
}


def data(task: str) -> tuple[Any, Any]:
    """The data of the files: row 20 is a copy of row 2."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, 4)).round(3) + np.eye(3, 4)[np.arange(N) % 3]
    X[20] = X[2]
    if task == "regression":
        return X, (X[:, 0] * 2 + X[:, 1]).round(2)
    return X, np.array(["cat", "dog", "lynx"])[np.arange(N) % 3]


def test_every_format_has_a_file() -> None:
    assert {path.name.removesuffix(".parquet") for path in FILES.glob("*.parquet")} == set(EXPECTED)
    assert {expected.format for expected in EXPECTED.values()} == set(META)
    assert max(META) == FORMAT


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_file_loads(name: str) -> None:
    path, expected = FILES / f"{name}.parquet", EXPECTED[name]
    document = json.loads(pq.read_metadata(path).metadata[KEY])
    assert (document["format"], document["meta"]["version"]) == (expected.format, expected.version)
    s = cgscore.load(path)
    assert s.meta == document["meta"]
    assert s.meta["task"] == expected.task
    assert tuple(s.table["cg"][:3]) == expected.cg  # to the last bit: nothing is computed
    assert s.complexity == expected.complexity
    assert s.table["duplicate_of"].dropna().to_dict() == {20: 2}
    assert s.loo.shape == (N, 3 if expected.task == "classification" else 1)
    assert (s.meta.get("judge") is not None) == expected.judged


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_file_has_the_scores_of_today(name: str) -> None:
    expected = EXPECTED[name]
    old = cgscore.load(FILES / f"{name}.parquet")
    with pytest.warns(cgscore.CGScoreWarning, match="20 repeats 2"):
        new = cgscore.score(*data(expected.task), task=expected.task)
    assert old.meta["fingerprint"] == new.meta["fingerprint"]
    for column in ("cg", "first_term", "partial", "third_term", "residual"):
        np.testing.assert_allclose(old.table[column], new.table[column], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(old.loo, new.loo, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(old.d, new.d, rtol=1e-9)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_file_can_be_used_and_saved_again(name: str, tmp_path: Path) -> None:
    old = cgscore.load(FILES / f"{name}.parquet")
    assert len(old.keep(0.5, order="low-first")) == N // 2
    path = tmp_path / "again.parquet"
    old.save(path)
    assert json.loads(pq.read_metadata(path).metadata[KEY])["format"] == FORMAT
    again = cgscore.load(path)
    pd.testing.assert_frame_equal(again.table, old.table)
    assert again.loo.tobytes() == old.loo.tobytes()
    assert again.d.tobytes() == old.d.tobytes()
    assert again.alpha.tobytes() == old.alpha.tobytes()
