"""What ``--json`` prints, against its page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.cli import COMMANDS
from tests.command import invoke

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
#: Commands whose documents also hold `Scores.meta`, which has its own page.
WITH_META = ("score", "demo")
#: `review` prints the other key after a merge only; `paper` needs datasets.
CALLS = {
    "score": ("score", "t.npz", "-o", "new.parquet"),
    "issues": ("issues", "s.parquet", "--why"),
    "prune": ("prune", "s.parquet", "--keep", "0.5"),
    "report": ("report", "s.parquet"),
    "review": ("review", "s.parquet", "--labels-to", "labels.csv", "--merge", "other.review"),
    "info": ("info", "t.npz"),
    "next": ("next", "pool.npz", "--like", "s.parquet", "--budget", "3"),
    "features": ("features", "texts.csv", "--encoder", "tfidf", "-o", "f.npz"),
    "export": ("export", "s.parquet", "--to", "csv", "-o", "e.csv"),
    "import": ("import", "s.parquet", "decided.csv", "-o", "corrected.parquet"),
    "demo": ("demo",),
}


def described(command: str) -> set[str]:
    """Names in the first columns of a command's section."""
    section = PAGE.read_text(encoding="utf-8").split(f"## `cgscore {command}`\n")[1]
    rows = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scored data with a few wrong labels, and what the commands need besides."""
    path = tmp_path_factory.mktemp("json")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    y = (X[:, 0] > 0).astype(int)
    y[:6] = 1 - y[:6]
    np.savez(path / "t.npz", X=X, y=y)
    np.savez(path / "pool.npz", X=rng.standard_normal((20, 5)))
    lines = [f"{'good' if i % 2 else 'bad'} film number {i},{i % 2}" for i in range(40)]
    (path / "texts.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    scores = cgscore.score(str(path / "t.npz"), ridge="auto")
    scores.save(path / "s.parquet")
    assert invoke("export", "s.parquet", "--to", "csv", "-o", "first.csv", folder=path).stdout
    suspects = pd.read_csv(path / "first.csv")
    assert len(suspects) > 3
    suspects["corrected_label"] = suspects["suggested_label"]
    suspects.to_csv(path / "decided.csv", index=False)
    taught = ("import", "s.parquet", "decided.csv", "--decisions", "other.review")
    assert invoke(*taught, "-o", "c.parquet", folder=path).returncode == 0
    return path


def test_every_command_has_a_section() -> None:
    titles = re.findall(r"^## `cgscore (\w+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(titles) == sorted(COMMANDS)
    assert set(CALLS) == set(COMMANDS) - {"paper"}


@pytest.mark.parametrize("command", CALLS)
def test_keys_are_those_of_the_page(folder: Path, command: str) -> None:
    done = invoke(*CALLS[command], "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    if command in WITH_META:
        meta = cgscore.load(folder / "s.parquet").meta
        document = {key: value for key, value in document.items() if key not in meta}
    assert set(document) == described(command)
