"""``python -m cgscore_paper.check_jobs [JOB ...]``: whether changed code gives the same results.

For every job `RECORD` holds its version, the digest of its sources (`sources.digest`) and numbers
from a sample: the result of a small call on small data. A test fails when the sources of a job
differ from the record. This command then computes the sample again:

- it equals the recorded one: the new digest is recorded as ``checked``; stored cells stay valid;
- it differs: the version in the job's decorator must be raised, so that cells are computed again.
  After that the command records the new version, digest and sample.

Numbers are equal up to the job's tolerance, as processors round differently. Trainings amplify
rounding, so that even another number of threads changes them by more than 5 %: of trainings, as of
measured seconds, only names and shapes are compared, and a change of their numbers is for the
author to see. Nor does a sample reach all code. Raise the version by hand in both cases.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.execution.files import replace_file
from cgscore_paper import sources
from cgscore_paper.cells import Work
from cgscore_paper.jobs import Job, all_jobs
from cgscore_paper.samples import write_sample_data

RECORD = Path(__file__).with_name("recorded_jobs.json")
_ENTRIES = 6  # of an array that a sample keeps

Entry = Mapping[str, Any]


def is_valid(job: Job, entry: Entry | None, digest: str) -> bool:
    """Whether results of a job whose sources have this digest are those of its version.

    They are if the version was raised since it was recorded, or if the digest is the recorded one
    or one for which the sample was the same.
    """
    if entry is None:
        return False
    return job.version > entry["version"] or digest in (entry["sources"], entry.get("checked"))


def checked_entry(job: Job, entry: Entry | None, digest: str, sample: Entry) -> Entry | None:
    """The entry of a job after its sample was computed, or None if the version must be raised."""
    if entry is None or job.version > entry["version"]:
        return {"version": job.version, "sources": digest, "sample": sample}
    if differences(entry["sample"], sample, job.tolerance):
        return None
    return {**entry, "checked": digest} if digest != entry["sources"] else entry


def summary(value: Mapping[str, Any]) -> dict[str, Any]:
    """Shapes and some numbers of a result, as JSON can write them; texts as they are."""
    return {name: _summary(leaf) for name, leaf in _leaves(value)}


def differences(recorded: Entry, current: Entry, tolerance: float | None) -> list[str]:
    """Names of values that are missing, new or differ by more than the tolerance."""
    names = sorted(set(recorded) ^ set(current))
    for name in set(recorded) & set(current):
        if not _equal(recorded[name], current[name], tolerance):
            names.append(name)
    return sorted(names)


def read_record(path: Path = RECORD) -> dict[str, Entry]:
    """Job -> its entry."""
    entries: dict[str, Entry] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    )
    return entries


def main(names: Sequence[str], path: Path = RECORD) -> int:
    """Check jobs, by default those whose sources changed, and record the outcome; 0 if all pass."""
    jobs, entries = all_jobs(), read_record(path)
    for name in names:
        if name not in jobs:
            raise OptionError(f"JOB must be one of {', '.join(jobs)}; got {name!r}.")
    failed = 0
    with TemporaryDirectory() as folder:
        data = Path(folder, "data")
        data.mkdir()
        write_sample_data(data)
        work = Work(Path(folder, "cells"), data)
        for name in names or sorted(jobs):
            job, entry = jobs[name], entries.get(name)
            digest = sources.digest(job.__module__)
            recorded = entry is not None and job.version == entry["version"]
            if not names and recorded and is_valid(job, entry, digest):
                print(f"{name}: unchanged")
                continue
            sample = summary(work(job.cell(**job.sample)).value)
            checked = checked_entry(job, entry, digest, sample)
            if checked is None:
                assert entry is not None  # noqa: S101 (a job without an entry is always recorded)
                changed = differences(entry["sample"], sample, job.tolerance)
                print(
                    f"{name}: the sample changed ({', '.join(changed[:5])}). Raise the version of "
                    f"the job above {job.version} in {job.__module__} and run this again."
                )
                failed = 1
                continue
            entries[name] = checked
            only = " (names and shapes compared, no numbers)" if job.tolerance is None else ""
            print(f"{name}: version {job.version} recorded with sources {digest}{only}")
    recorded_entries = {name: entries[name] for name in sorted(jobs) if name in entries}
    text = json.dumps(recorded_entries, indent=1) + "\n"
    replace_file(path, lambda file: file.write(text.encode()))
    return failed


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}/{key}" if name else str(key))
    else:
        yield name, value


def _summary(leaf: Any) -> Any:
    if isinstance(leaf, str) or leaf is None:
        return leaf
    values = np.asarray(leaf, float)
    places = np.linspace(0, max(values.size - 1, 0), _ENTRIES).round().astype(int)
    finite = values[np.isfinite(values)]
    numbers = [finite.mean(), np.sqrt(np.square(finite).mean())] if finite.size else []
    numbers += values.ravel()[places].tolist() if values.size else []
    return {
        "shape": list(values.shape),
        "numbers": [float(f"{number:.10g}") if np.isfinite(number) else None for number in numbers],
    }


def _equal(recorded: Any, current: Any, tolerance: float | None) -> bool:
    if not isinstance(recorded, Mapping) or not isinstance(current, Mapping):
        return bool(recorded == current)
    if recorded["shape"] != current["shape"]:
        return False
    if tolerance is None:
        return True
    first, second = (np.array(one["numbers"], float) for one in (recorded, current))
    if first.shape != second.shape:
        return False
    scale = np.nanmax(np.abs(first), initial=0.0)
    return bool(np.allclose(first, second, rtol=0, atol=tolerance * scale, equal_nan=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
