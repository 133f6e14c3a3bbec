"""Code whose results are stored does not change unnoticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import OptionError
from cgscore_paper import check_jobs, figure_1, sources
from cgscore_paper.check_jobs import checked_entry, differences, is_valid, read_record, summary
from cgscore_paper.jobs import Job, all_jobs

JOBS = all_jobs()
SAMPLE = summary({"x": np.arange(5.0)})


def versioned(version: int) -> Job:
    return Job(lambda work: {}, "tests.job", version, False, {}, 1e-6)


@pytest.mark.parametrize("name", JOBS)
def test_results_are_those_of_the_recorded_version(name: str) -> None:
    job, entry = JOBS[name], read_record().get(name)
    assert is_valid(job, entry, sources.digest(job.__module__)), (
        f"The sources of {name} changed. Run: python -m cgscore_paper.check_jobs"
    )


def test_every_version_is_recorded() -> None:
    """Raise a version, then run: python -m cgscore_paper.check_jobs."""
    recorded = {name: entry["version"] for name, entry in read_record().items()}
    assert recorded == {name: job.version for name, job in JOBS.items()}


def test_what_counts_as_valid() -> None:
    entry = {"version": 1, "sources": "a", "checked": "b", "sample": SAMPLE}
    assert is_valid(versioned(1), entry, "a")
    assert is_valid(versioned(1), entry, "b")
    assert is_valid(versioned(2), entry, "c")
    assert not is_valid(versioned(1), entry, "c")
    assert not is_valid(versioned(1), None, "a")


def test_entries_after_a_check() -> None:
    entry = {"version": 1, "sources": "a", "sample": SAMPLE}
    other = summary({"x": np.arange(5.0) + 1})
    assert checked_entry(versioned(1), entry, "a", SAMPLE) == entry
    assert checked_entry(versioned(1), entry, "b", SAMPLE) == {**entry, "checked": "b"}
    assert checked_entry(versioned(1), entry, "b", other) is None
    new = {"version": 2, "sources": "b", "sample": other}
    assert checked_entry(versioned(2), entry, "b", other) == new
    assert checked_entry(versioned(2), None, "b", other) == new


def test_differences_of_samples() -> None:
    value: dict[str, Any] = {
        "x": np.linspace(1, 2, 50),
        "flags": np.array([True, False]),
        "name": "vit",
    }
    recorded = summary({**value, "inner": {"one": 1, "none": None}})
    same = {**value, "inner": {"one": 1, "none": None}}
    assert differences(recorded, json.loads(json.dumps(summary(same))), 0.0) == []
    assert differences(recorded, summary({**same, "x": value["x"] + 1e-4}), 1e-3) == []
    assert differences(recorded, summary({**same, "x": value["x"] + 1e-2}), 1e-3) == ["x"]
    assert differences(recorded, summary({**same, "x": value["x"] + 1e-2}), None) == []
    assert differences(recorded, summary({**same, "x": value["x"][1:]}), None) == ["x"]
    assert differences(recorded, summary({**same, "name": "other"}), None) == ["name"]
    assert differences(recorded, summary(value), None) == ["inner/none", "inner/one"]


def test_the_command_checks_and_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    assert check_jobs.main(["gaussians"], path) == 0
    (entry,) = read_record(path).values()
    assert differences(read_record()["gaussians"]["sample"], entry["sample"], 1e-6) == []
    monkeypatch.setattr(sources, "digest", lambda module: "changed")
    assert check_jobs.main(["gaussians"], path) == 0
    assert read_record(path)["gaussians"] == {**entry, "checked": "changed"}
    monkeypatch.setattr(figure_1, "DEVIATION", 0.4)
    assert check_jobs.main(["gaussians"], path) == 1
    assert (
        "Raise the version of the job above 1 in cgscore_paper.figure_1" in capsys.readouterr().out
    )
    monkeypatch.setattr(figure_1.gaussians, "version", 2)
    assert check_jobs.main(["gaussians"], path) == 0
    assert read_record(path)["gaussians"]["version"] == 2


def test_unknown_jobs(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"JOB must be one of .*got 'other'"):
        check_jobs.main(["other"], tmp_path / "record.json")
