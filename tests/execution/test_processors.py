"""What is the same on another type of processor, and with another number of BLAS threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

PROGRAM = """
import sys
import numpy as np
from threadpoolctl import threadpool_info
import cgscore
with np.load("digits.npz") as data:  # scikit-learn takes longer to load than all scores
    X, y = data["X"], data["y"]
found = {}
for name, options in {
    "exact": {},
    "float32": {"method": "exact", "dtype": "float32"},
    "iterative": {},
    "partition": {"runs": 1, "memory_limit": "3MB"},
    "subsample": {"ratio": 1, "runs": 1},
    "lowrank": {"ridge": 0.1, "landmarks": 120},
}.items():
    scores = cgscore.score(X, y, judge=False, **{"method": name, **options})
    found[name] = scores.table["cg"].to_numpy()
pools = [pool for pool in threadpool_info() if pool["internal_api"] == "openblas"]
found["core"] = np.array(sorted({pool["architecture"] for pool in pools}))
found["threads"] = np.array(sorted({pool["num_threads"] for pool in pools}))
np.savez(sys.argv[1], **found)
"""

#: Largest difference between two processors, in shares of the largest score.
TOLERANCE = {
    "exact": 1e-11,
    "float32": 1e-4,
    "iterative": 1e-3,
    "partition": 1e-11,
    "subsample": 1e-11,
    "lowrank": 1e-8,
}


def scores(folder: Path, **environment: str) -> dict[str, Any]:
    path = folder / "-".join(["scores", *environment.values()])
    X, y = load_digits(return_X_y=True)
    np.savez(folder / "digits.npz", X=X[:600], y=y[:600])
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, f"{path}.npz"],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
    )
    with np.load(f"{path}.npz") as kept:
        return dict(kept)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return scores(tmp_path_factory.mktemp("usual"), OPENBLAS_NUM_THREADS="2")


def difference(one: Any, other: Any) -> float:
    return float(np.abs(one - other).max() / np.abs(one).max())


@pytest.mark.parametrize("core", ["Nehalem", "Haswell"])
def test_another_processor_gives_the_same_to_a_tolerance(
    usual: dict[str, Any], core: str, tmp_path: Path
) -> None:
    if core == "Haswell" and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    found = scores(tmp_path, OPENBLAS_CORETYPE=core)
    if not len(found["core"]):
        pytest.skip("numpy and scipy have another BLAS library")
    assert found["core"].tolist() == [core]
    for name, most in TOLERANCE.items():
        assert difference(usual[name], found[name]) < most, name


def test_the_number_of_threads(usual: dict[str, Any], tmp_path: Path) -> None:
    found = scores(tmp_path, OPENBLAS_NUM_THREADS="1")
    for name in ("partition", "subsample", "lowrank"):  # every task has one thread
        assert np.array_equal(usual[name], found[name]), name
    for name, most in TOLERANCE.items():
        assert difference(usual[name], found[name]) < most, name
