"""pyDVL, which wants an older numpy, in an environment of its own (`make test` makes it)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import blocks

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-pydvl" / "bin" / "python"

PROGRAM = """
import numpy as np
import cgscore
from cgscore.adapters.pydvl import valuation_result
from pydvl.valuation import ValuationResult

data = cgscore.read("sklearn:iris")
scores = cgscore.score(np.c_[data.X, np.ones(150)], data.y, ridge=0.1)
found = valuation_result(scores)
assert isinstance(found, ValuationResult)
assert np.array_equal(found.values, scores.table["cg"])
assert np.array_equal(found.names, scores.table["id"])
assert found.status.name == "Converged"
found.sort(inplace=True)
assert found.indices[0] == scores.table["cg"].argmin()
frame = found.to_dataframe(column="cg")
assert frame["cg"].iloc[-1] == scores.table["cg"].max()

labels = valuation_result(scores, "label_score")
assert labels.values.max() <= 1
parts = cgscore.score(np.c_[data.X, np.ones(150)], data.y, method="subsample", ridge=0.1, runs=3)
assert np.allclose(valuation_result(parts).stderr, parts.table["cg_std_error"])
print("as expected with numpy", np.__version__)
"""


def run(program: str) -> str:
    """What a program prints in the environment with pyDVL."""
    if not (ROOT / ".venv-pydvl" / ".ready").exists():
        pytest.skip("there is no environment with pyDVL: make .venv-pydvl/.ready")
    done = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_valuation_result() -> None:
    assert "as expected with numpy 1." in run(PROGRAM)


def test_the_page_runs() -> None:
    python = [one.text for one in blocks(ROOT / "docs" / "adapters.md") if one.language == "python"]
    (shown,) = (code for code in python if "valuation_result" in code)
    scored = "import cgscore\nscores = cgscore.score(X, y, ridge='auto')\n"
    printed = run(f"{python[0]}\n{scored}{shown}\nprint(values.values.min() < 0.01, len(values))")
    assert printed == "True 1797\n"
