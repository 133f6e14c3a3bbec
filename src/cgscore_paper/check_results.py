"""``python -m cgscore_paper.check_results``: whether stored results are what the code gives.

- Cells that took less than `CHEAP_SECONDS` are computed again and compared, up to the tolerance of
  their job. Those of trainings, which amplify rounding, are left out.
- The files of results/paper are made again from cells, and their numbers compared.
- Files of results without commit, sources, machine and date are listed. Those that an earlier
  version wrote say what they know; they are not failures.

Cells need the datasets: ``--data FOLDER``, or the environment variable CGSCORE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cgscore_paper.cells import Work, read_record, read_result
from cgscore_paper.check_jobs import differences, summary
from cgscore_paper.items import do
from cgscore_paper.jobs import all_jobs
from cgscore_paper.plans import PLANS, Plan

#: Cells that took longer are not computed again.
CHEAP_SECONDS = 60.0
#: What every file of results says about where it comes from.
ORIGIN = ("commit", "sources", "machine", "date")
#: Numbers that differ by less, relative to the larger, are equal: files have six digits.
TOLERANCE = 1e-5


def cheap_records(
    folder: Path, limit: float = CHEAP_SECONDS
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and records of cells that can be computed again in little time."""
    jobs = all_jobs()
    for path in sorted(folder.glob("*.json")):
        record = read_record(path)
        job = None if record is None else jobs.get(record["job"])
        if record is None or job is None or job.version != record["version"]:
            continue
        if 0 < record["seconds"] < limit and job.tolerance is not None:
            yield path.stem, record


def changed_cell(work: Work, stem: str, record: Mapping[str, Any]) -> list[str] | None:
    """Names of values that are not those of a stored cell; None if its data are not here."""
    job = all_jobs()[record["job"]]
    cell = job.cell(**record["options"])
    if work.stem(cell) != stem:
        return None
    stored = read_result(work.folder, stem)
    if stored is None:
        return ["the file is damaged"]
    with TemporaryDirectory() as scratch:
        value = Work(Path(scratch), work.data)(cell).value
    return differences(summary(stored.value), summary(value), job.tolerance)


def changed_item(work: Work, path: Path) -> list[str]:
    """Names of numbers of a file of results that cells do not give."""
    document = json.loads(path.read_text(encoding="utf-8"))
    plan = Plan.named(document["preset"], document["seed"])
    stored_only = Work(work.folder, work.data, stored_only=True)
    with TemporaryDirectory() as scratch:
        do(document["name"], stored_only, plan, Path(scratch))
        made = json.loads(Path(scratch, path.name).read_text(encoding="utf-8"))
    return sorted(_different("", document["numbers"], made["numbers"]))


def without_origin(folder: Path) -> list[Path]:
    """Files of results that do not say where they come from."""
    missing = []
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = document if isinstance(document, list) else [document]
        if not all(name in entry for entry in entries for name in ORIGIN):
            missing.append(path)
    return missing


def _different(name: str, first: Any, second: Any) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in first.keys() | second.keys():
            yield from _different(f"{name}/{key}", first.get(key), second.get(key))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for i, pair in enumerate(zip(first, second, strict=True)):
            yield from _different(f"{name}/{i}", *pair)
    elif isinstance(first, float) and isinstance(second, float | int):
        if abs(first - second) > TOLERANCE * max(abs(first), abs(second)):
            yield name
    elif first != second:
        yield name


def main(arguments: Sequence[str]) -> int:
    """Print what was checked; 1 if anything differs."""
    parser = argparse.ArgumentParser(
        "python -m cgscore_paper.check_results", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("CGSCORE_DATA"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--seconds", type=float, default=CHEAP_SECONDS)
    given = parser.parse_args(arguments)
    if given.data is None:
        parser.error("give --data FOLDER, or set CGSCORE_DATA")
    work, failed = Work(given.results / "cells", Path(given.data)), 0
    for stem, record in cheap_records(work.folder, given.seconds):
        changed = changed_cell(work, stem, record)
        failed += bool(changed)
        print(f"{stem}: {_outcome(changed)}", flush=True)
    for path in sorted((given.results / "paper").glob("*.json")):
        if json.loads(path.read_text(encoding="utf-8"))["preset"] not in PLANS:
            continue
        changed = changed_item(work, path)
        failed += bool(changed)
        print(f"{path}: {_outcome(changed)}", flush=True)
    earlier = without_origin(given.results)
    print(f"{len(earlier)} files of an earlier version say less of where they come from:")
    print(*(f"  {path}" for path in earlier), sep="\n")
    print(f"{failed} differ." if failed else "All that was checked is as stored.")
    return 1 if failed else 0


def _outcome(changed: list[str] | None) -> str:
    if changed is None:
        return "left out: the data differ from those of the cell"
    return "differs in " + ", ".join(changed[:5]) if changed else "the same"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
