"""Items of the paper, with what holds for all of them checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from cgscore_paper.cells import Work
from cgscore_paper.items import do
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result, rounded


def made(name: str, work: Work, plan: Plan, folder: Path) -> tuple[Result, dict[str, Any]]:
    """An item, and its JSON file; everything that it should write is there and small."""
    result = do(name, work, plan, folder).result
    for suffix, (_, caption) in result.figures.items():
        assert caption.endswith(".")
        assert 5_000 < (folder / f"{name}{suffix}.png").stat().st_size < 300_000
        assert 5_000 < (folder / f"{name}{suffix}.svg").stat().st_size < 300_000
    page = (folder / f"{name}.md").read_text()
    assert result.text in page
    assert all((one.cause or "Unexplained.") in page for one in result.compared if one.apart)
    assert plan.description in page
    assert result.trials in page
    assert all(one in page for one in result.not_run)
    text = (folder / f"{name}.json").read_text()
    assert len(text) < 60_000
    assert "NaN" not in text
    document: dict[str, Any] = json.loads(text)
    assert {"commit", "machine", "date", "sources", "seed", "cells"} <= set(document)
    if result.numbers:
        assert all((work.folder / f"{one}.json").exists() for one in document["cells"])
    assert document["numbers"] == json.loads(json.dumps(rounded(result.numbers)))
    return result, document


def check_detection(numbers: dict[str, Any], scores: set[str]) -> None:
    """Curves of detection of some scores, among 200 examples of which a fifth are wrong."""
    assert set(numbers["scores"]) == scores
    assert numbers["wrong"] == 40
    for one in numbers["scores"].values():
        assert len(one["found"]) == 101
        assert (one["found"][0], one["found"][-1]) == (0, 1)
        assert (np.diff(one["found"]) >= 0).all()
        assert 0 <= one["found_among_as_many"] <= 1
        assert 0 <= one["auroc"] <= 1
