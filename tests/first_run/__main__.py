"""Runs the commands a new user would on every dataset of the list, and prints what happened.

::

    make test-first-run                                   # all of them
    python -m tests.first_run --packages FOLDER penguins  # those with a word in their name
    python -m tests.first_run --list                      # the list, with a command for each

Each dataset goes through ``info``, ``issues``, ``report`` and ``prune --keep 0.6`` with no flag
but the label column; a last ``issues --json -o`` counts what is flagged. The status is 1 if a
command fails or a count is outside its range. Data that cannot be had here are left out, and
named.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tests.first_run.datasets import ENTRIES, Entry
from tests.first_run.errors import flipped, mistyped
from tests.first_run.packages import Missing, Packages

COMMANDS = {"info": [], "issues": [], "report": [], "prune": ["--keep", "0.6"]}


@dataclass
class Outcome:
    """What became of one dataset.

    Attributes
    ----------
    seconds : dict
        Of each command that succeeded.
    failures : list of str
        Commands that failed with what they said, and counts outside their range.
    examples, flagged, wrong, found : int
        Examples, those that are flagged, those that are wrong, and those that are both.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    examples: int = 0
    flagged: int | None = None
    wrong: int = 0
    found: int = 0


def prepared(entry: Entry, packages: Packages, folder: Path) -> tuple[set[str], int]:
    """Write the file of a dataset; the names of rows with wrong labels, and the number of rows."""
    frame = entry.load(packages)
    truth = frame[entry.label]
    if entry.wrong:
        change = mistyped if entry.kind == "numbers" else flipped
        frame = frame.copy()
        frame[entry.label] = pd.Series(change(truth, entry.wrong, entry.seed)).infer_objects()
    names = entry.write(frame, entry.label, folder / entry.file)
    wrong = (truth != frame[entry.label]).to_numpy()
    return {name for name, is_wrong in zip(names, wrong, strict=True) if is_wrong}, len(frame)


def run(command: str, arguments: list[str], folder: Path) -> tuple[float, str | None]:
    """Seconds of one command, and what it said if it failed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "cgscore", command, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    said = (done.stderr.strip() or done.stdout.strip())[-600:]
    return time.perf_counter() - start, None if done.returncode == 0 else said


def tried(entry: Entry, packages: Packages, folder: Path) -> Outcome:
    """One dataset through all commands."""
    outcome = Outcome()
    wrong, outcome.examples = prepared(entry, packages, folder)
    outcome.wrong = len(wrong)
    for command, flags in COMMANDS.items():
        seconds, failure = run(command, [*entry.arguments, *flags], folder)
        outcome.seconds[command] = seconds
        if failure is not None:
            del outcome.seconds[command]
            outcome.failures.append(f"{command}: {failure}")
    if "issues" in outcome.seconds:
        count(entry, outcome, wrong, folder)
    return outcome


def count(entry: Entry, outcome: Outcome, wrong: set[str], folder: Path) -> None:
    """Count what is flagged, and how much of it is wrong."""
    _, failure = run("issues", [*entry.arguments, "-o", "issues.csv", "--json"], folder)
    if failure is not None:
        outcome.failures.append(f"issues -o issues.csv: {failure}")
        return
    with (folder / "issues.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ids = {re.sub(r"^'", "", row["id"]) for row in rows}
    flagged = {row["id"] for row in rows if row["is_label_issue"] == "True"}
    if not wrong <= ids:
        outcome.failures.append(f"rows are called {sorted(ids)[:3]}, not {sorted(wrong)[:3]}")
    outcome.flagged, outcome.found = len(flagged), len(flagged & wrong)
    low, high = entry.flagged
    if not low <= outcome.flagged / outcome.examples <= high:
        share = outcome.flagged / outcome.examples
        outcome.failures.append(f"flagged {share:.1%}, expected {low:.0%} to {high:.0%}")


def line(entry: Entry, outcome: Outcome) -> str:
    """A line of the table."""
    times = [
        f"{outcome.seconds[command]:6.1f}" if command in outcome.seconds else "FAILED"
        for command in COMMANDS
    ]
    low, high = entry.flagged
    flagged = "-" if outcome.flagged is None else str(outcome.flagged)
    expected = f"{round(low * outcome.examples)}-{round(high * outcome.examples)}"
    found = f"{outcome.found:4d}/{outcome.wrong:<4d}" if outcome.wrong else " " * 9
    mark = "ok" if not outcome.failures else "FAILED"
    return (
        f"{entry.name:42.42} {entry.kind:8}{outcome.examples:6} {' '.join(times)} "
        f"{flagged:>6} {expected:>9} {found} {mark}"
    )


def main() -> int:
    """Run the list, or the part of it that is named; 0 if all of it succeeds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", help="only datasets with one of these in the name")
    parser.add_argument("--packages", type=Path, default=Path(".venv-first-run"))
    parser.add_argument("--keep", type=Path, help="folder for the files, which then stay")
    parser.add_argument("--json", type=Path, help="file for the outcomes")
    parser.add_argument("--list", action="store_true", help="print the list only")
    options = parser.parse_args()
    entries = [e for e in ENTRIES if not options.words or any(w in e.name for w in options.words)]
    if options.list:
        for entry in entries:
            low, high = entry.flagged
            print(f"{entry.name}: {entry.kind} of {entry.package}, {entry.wrong:.0%} made wrong")
            print(f"  cgscore issues {' '.join(map(repr, entry.arguments)).replace(chr(39), '')}")
            print(f"  expected: {low:.0%} to {high:.0%} flagged")
        return 0
    packages = Packages(options.packages.resolve())
    root = Path(options.keep or tempfile.mkdtemp(prefix="cgscore-first-run-")).resolve()
    os.environ["CGSCORE_CACHE"] = str(root / "cache")  # so that nothing is encoded before
    failures, left_out, outcomes = [], [], {}
    head = " ".join(f"{command:>6}" for command in COMMANDS)
    print(f"{'dataset':42} {'kind':8}{'n':>6} {head} {'flagged':>6} {'expected':>8} found/wrong")
    for number, entry in enumerate(entries):
        folder = root / f"{number:02}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            outcome = tried(entry, packages, folder)
        except Missing as reason:
            left_out.append(f"{entry.name}: {reason}")
            continue
        outcomes[entry.name] = vars(outcome)
        print(line(entry, outcome), flush=True)
        failures += [f"{entry.name}: {failure}" for failure in outcome.failures]
    if options.json:
        options.json.write_text(json.dumps(outcomes, indent=1) + "\n")
    if options.keep is None:
        shutil.rmtree(root)
    print(f"\n{len(outcomes)} datasets, {len(failures)} failures, {len(left_out)} left out")
    for text in (*(f"left out: {text}" for text in left_out), *failures):
        print(f"  {text}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
