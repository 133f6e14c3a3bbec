"""``cgscore report``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import cgscore
from tests.command import invoke
from tests.report.pages import document

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_report(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    z = np.where(np.arange(600) % 20 == 0, (y[:600] + 1) % 10, y[:600])
    cgscore.score(X[:600], z, ridge="auto").save(tmp_path / "s.parquet")

    done = invoke(
        "report", "s.parquet", "--worst", "5", folder=tmp_path
    )  # the data were arrays, so there are no pictures
    assert done.returncode == 0, done.stderr
    assert "note: Pictures and neighbours are left out" in done.stderr
    assert (tmp_path / "report.html").resolve().as_uri() in done.stdout
    assert len(document(tmp_path / "report.html")["suspects"]) == 5
    refused = invoke("report", "s.parquet", "-o", "report.txt", folder=tmp_path)
    assert refused.returncode == 2
    assert "ends in .html" in refused.stderr
