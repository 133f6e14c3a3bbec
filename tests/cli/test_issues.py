"""``cgscore issues``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tests.command import invoke
from tests.issues.examples import flipped

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.fixture(scope="module")
def noisy() -> tuple[Any, Any]:
    """Digits with a twentieth of the labels flipped."""
    X, y = load_digits(return_X_y=True)
    return X, flipped(y, 0.05, 10)


def test_issues(noisy: tuple[Any, Any], tmp_path: Path) -> None:
    X, z = noisy[0][:500], noisy[1][:500]
    np.savez(tmp_path / "d.npz", X=X, y=z)
    text = invoke("issues", "d.npz", "--why", "-o", "i.csv", "--show", "3", folder=tmp_path)
    assert text.returncode == 0, text.stderr
    assert "labels look wrong (95 %:" in text.stdout
    assert text.stdout.count("\n    like ") == 6
    lines = (tmp_path / "i.csv").read_text().splitlines()
    assert lines[0].startswith("id,is_label_issue,label_score,given_label,predicted_label")
    assert len(lines) == 501
    assert sorted(lines[1:], key=lambda line: float(line.split(",")[2])) == lines[1:]  # worst first
    scored = invoke("score", "d.npz", "--ridge", "auto", "-o", "s.parquet", folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    from_source, from_result = (
        json.loads(invoke("issues", name, "--json", "--why", folder=tmp_path).stdout)
        for name in ("d.npz", "s.parquet")
    )
    assert from_source == from_result
    assert len(from_result["why"]) == 60
    rows = "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(z, X, strict=True))
    header = ",".join(["label", *(f"x{i}" for i in range(64))])
    lines = (f"{header}\n{rows}").splitlines()
    (tmp_path / "t.csv").write_text(
        "\n".join([f"id,{lines[0]}", *(f"same,{line}" for line in lines[1:])])
    )
    repeated = invoke("issues", "t.csv", "--why", "--json", folder=tmp_path)  # ids that repeat
    assert repeated.returncode == 0, repeated.stderr
    told = json.loads(repeated.stdout)
    assert len({row["position"] for row in told["why"]}) == 10
    (tmp_path / "d.npz").rename(tmp_path / "moved.npz")
    moved = invoke("issues", "s.parquet", "--why", folder=tmp_path)
    assert moved.returncode == 0
    assert "note: neighbours are left out" in moved.stderr
    assert moved.stderr.count("Give the scored data: --source PATH") == 1
    assert "data=" not in moved.stderr
    found = invoke("issues", "s.parquet", "--why", "--source", "moved.npz", folder=tmp_path)
    assert "\n    like " in found.stdout
    np.savez(tmp_path / "other.npz", X=X[::-1], y=z)
    other = invoke("issues", "s.parquet", "--why", "--source", "other.npz", folder=tmp_path)
    assert other.returncode == 2
    assert "fingerprint differs" in other.stderr


def test_mistakes(noisy: tuple[Any, Any], tmp_path: Path) -> None:
    X, z = noisy[0][:200], noisy[1][:200]
    table = np.column_stack([z, X])
    header = ",".join(["species", *(f"x{i}" for i in range(64))])
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", header=header, comments="", fmt="%g")
    refused = invoke("issues", "nowhere.npz", "--precision", "2", folder=tmp_path)
    assert refused.returncode == 2
    assert (
        "precision must be above 0 and at most 1; got 2" in refused.stderr
    )  # said before anything is read
    scored = invoke(
        "score", "t.csv", "--label-column", "species", "-o", "s.parquet", folder=tmp_path
    )
    assert scored.returncode == 0, scored.stderr
    refused = invoke("issues", "s.parquet", "--label-column", "species", folder=tmp_path)
    assert refused.returncode == 2
    assert "--label-column says how a source is read" in refused.stderr
    (tmp_path / "t.csv").rename(tmp_path / "moved.csv")
    moved = invoke("issues", "s.parquet", "--why", "--source", "moved.csv", folder=tmp_path)
    assert moved.returncode == 0, moved.stderr
    assert "\n    like " in moved.stdout


def test_conflicts_have_a_section_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 3)) + 3 * y[:, None]
    X[5] = X[4]  # a tie
    np.savez(tmp_path / "d.npz", X=X, y=y)
    text = invoke("issues", "d.npz", folder=tmp_path).stdout
    assert "Identical inputs with different labels:\n  4: 0, 5: 1 (undecidable)\n" in text
    groups = json.loads(invoke("issues", "d.npz", "--json", folder=tmp_path).stdout)
    assert groups["conflict_groups"] == [
        {
            "group": 0,
            "undecidable": True,
            "members": [
                {"id": 4, "given_label": 0, "is_label_issue": False},
                {"id": 5, "given_label": 1, "is_label_issue": False},
            ],
        }
    ]
