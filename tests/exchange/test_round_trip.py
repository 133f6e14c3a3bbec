"""From scores to corrected labels and back, for every tool and every kind of data."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.exchange.registry import MODULES, find_tool
from cgscore.review.decisions import Decisions
from tests.command import invoke
from tests.exchange.annotators import ANNOTATE
from tests.exchange.data import SOURCES, Source, many_classes

#: Every tool with every kind of data; FiftyOne is for images.
PAIRS = [
    (name, kind)
    for name in ANNOTATE
    for kind in SOURCES
    if name != "fiftyone" or kind in ("images", "pictures")
]


def caption_of(name: str, scores: cgscore.Scores, label: Any) -> Any:
    """A label as a tool shows it."""
    if not len(scores.classes):
        return label
    return find_tool(name).captions(scores).texts[int(np.searchsorted(scores.classes, label))]


def exported(name: str, source: Source, result: Path, *more: str) -> tuple[Path, dict[str, Any]]:
    folder = source.path.parent
    path = folder / f"export{find_tool(name).suffix}"
    arguments = ("export", result.name, "--to", name, "-o", str(path), "--json", "-q", *more)
    done = invoke(*arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["to"] == name
    return path, document


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_corrections_come_back(name: str, kind: str, tmp_path: Path) -> None:
    check_round_trip(name, SOURCES[kind](tmp_path))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
@pytest.mark.parametrize("name", [name for name in ANNOTATE if name != "fiftyone"])
def test_corrections_of_many_classes_come_back(name: str, tmp_path: Path) -> None:
    check_round_trip(name, many_classes(tmp_path), crowded=True)


def check_round_trip(name: str, source: Source, *, crowded: bool = False) -> None:
    """Export, correct, import; `crowded` if classes have too few examples to judge labels."""
    tmp_path = source.path.parent
    result = source.scored()
    before, content = cgscore.load(result), result.read_bytes()
    path, document = exported(name, source, result, *["--all"] * crowded)
    assert crowded or document["suspects"] >= len(source.truth)
    assert document["fingerprint"] == before.meta["fingerprint"]
    choices = {at: caption_of(name, before, label) for at, label in source.truth.items()}
    returned = ANNOTATE[name](path, choices)

    done = invoke("import", result.name, str(returned), "-o", "new.parquet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{len(source.truth)} decisions from {find_tool(name).title}" in done.stdout
    assert result.read_bytes() == content
    log = tmp_path / f"{result.name}.review"
    with closing(Decisions(log, before.meta["fingerprint"])) as decisions:
        assert set(decisions.current()) == set(source.truth)

    labels = before.table["given_label"].to_numpy().copy()
    for at, label in source.truth.items():
        labels[at] = label
    written = pd.read_csv(tmp_path / "new.labels.csv")
    assert np.flatnonzero(written["changed"]).tolist() == sorted(source.truth)
    after = cgscore.load(tmp_path / "new.parquet")
    assert (after.table["given_label"].to_numpy() == labels).all()
    dataset = cgscore.read(str(source.path), **read_options(source)).with_labels(labels)
    expected = cgscore.score(dataset, ridge=0.05, task=before.meta["task"])
    pd.testing.assert_frame_equal(after.table, expected.table, check_dtype=False)
    assert after.meta["fingerprint"] == dataset.fingerprint
    assert after.data().fingerprint == dataset.fingerprint  # with the saved source
    flagged = after.label_issues()["is_label_issue"].to_numpy()[list(source.truth)]
    assert crowded or not flagged.any()


def read_options(source: Source) -> dict[str, Any]:
    return {name: value for name, value in source.options.items() if name != "task"}


@pytest.mark.parametrize("name", MODULES)
def test_every_tool_is_tested(name: str) -> None:
    assert name in ANNOTATE
    assert find_tool(name).name == name
