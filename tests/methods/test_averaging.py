"""Methods that average over tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import CGScoreWarning, SingularKernelError

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_a_class_of_its_own(uneven: Any) -> None:
    X, y = uneven
    y[:] = np.where(y == "d", "c", y)
    y[7] = "d"
    with pytest.warns(CGScoreWarning, match="one example only"):
        s = cgscore.score(X, y, method="subsample", ratio=3, runs=4)
    assert np.isfinite(s.table["cg"]).all()
    assert s.meta["runs_of_class"]["d"] == 4
    assert np.isfinite(cgscore.score(X, y, method="partition").table["cg"]).all()


@pytest.mark.parametrize("method", ["subsample", "partition"])
def test_a_checkpoint_of_copies_elsewhere_is_refused(
    method: str, uneven: Any, tmp_path: Path
) -> None:
    """The same rows and the same labels, but other examples are copies."""
    X, y = uneven
    y = np.concatenate([y, ["a", "b"]])
    first, second = np.vstack([X, X[3], X[5]]), np.vstack([X, X[5], X[3]])
    options: dict[str, Any] = {"method": method, "runs": 2, "checkpoint": tmp_path / "kept"}
    cgscore.score(first, y, **options)
    with pytest.raises(cgscore.CGScoreError, match="belongs to other work"):
        cgscore.score(second, y, **options)


def test_numbers_of_numpy_are_numbers(uneven: Any, tmp_path: Path) -> None:
    s = cgscore.score(*uneven, method="subsample", seed=np.int64(3), runs=np.int64(2))
    s.save(tmp_path / "a.parquet")
    assert s.table.equals(cgscore.score(*uneven, method="subsample", seed=3, runs=2).table)


def test_labels_that_are_whole_floats_stay_floats(uneven: Any) -> None:
    y = np.unique(uneven[1], return_inverse=True)[1].astype(float)
    s = cgscore.score(uneven[0], y, method="subsample", ratio=1, runs=2)
    assert s.table["predicted_label"].dtype == np.float64
    assert s.table["predicted_label"].isna().any()


def test_a_checkpoint_of_another_ratio_is_refused(uneven: Any, tmp_path: Path) -> None:
    cgscore.score(*uneven, method="subsample", ratio=1, checkpoint=tmp_path / "kept")
    with pytest.raises(cgscore.CGScoreError, match=r"the ratio differs: 1\.0, now 2\.0"):
        cgscore.score(*uneven, method="subsample", ratio=2, checkpoint=tmp_path / "kept")
    again = cgscore.score(*uneven, ratio=1, checkpoint=tmp_path / "kept")
    assert again.meta["choice"]["method"] == "subsample"


def test_rows_that_determine_each_other_are_named(uneven: Any) -> None:
    X, y = uneven
    X[90] = X[33]
    X[90, 0] += 5e-15 * np.linalg.norm(X[33])
    for method in ("partition", "subsample"):
        with pytest.raises(SingularKernelError, match=r"row 90 is nearly identical to row 33"):
            cgscore.score(X, y, method=method, ratio=4 if method == "partition" else 1e6)
    X[90, 0] += 1e-12 * np.linalg.norm(X[33])
    with pytest.warns(CGScoreWarning, match="leaves about"):
        s = cgscore.score(X, y, method="subsample", ratio=2)
    assert np.isfinite(s.table["cg"]).all()
    assert "it failed: Conjugate" in s.meta["audit_left_out"]  # the scores stand without it


def test_results_with_missing_predictions_are_saved(uneven: Any, tmp_path: Path) -> None:
    for name, y in (("text", uneven[1]), ("number", np.unique(uneven[1], return_inverse=True)[1])):
        s = cgscore.score(uneven[0], y, method="subsample", ratio=1, runs=2)
        assert s.table["predicted_label"].isna().any()
        s.save(tmp_path / f"{name}.parquet")
        again = cgscore.load(tmp_path / f"{name}.parquet")
        assert again.table["cg_std_error"].equals(s.table["cg_std_error"])
        assert again.table["predicted_label"].isna().equals(s.table["predicted_label"].isna())
        known = s.table["predicted_label"].notna()
        assert (again.table["predicted_label"] == s.table["predicted_label"])[known].all()
        assert np.array_equal(again.loo, s.loo, equal_nan=True)
        assert again.accuracy() == s.accuracy()
        assert "that have a prediction" in repr(again)
        again.to_csv(tmp_path / "scores.csv")
