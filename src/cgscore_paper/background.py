"""``python -m cgscore_paper.background run|pause|resume|status``: trainings at low priority.

``run`` computes the stages of `queue` one after the other with the lowest priority, and goes on
where it stopped. ``pause`` halts it, with its processes, until ``resume``; a bench that measures
time refuses to do so while it runs (`background_process.require_quiet`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import psutil

from cgscore.errors import CGScoreError, OptionError
from cgscore.execution.files import replace_file
from cgscore.execution.machine import lower_priority
from cgscore.training.loop.settings import PRECISIONS
from cgscore_paper.background_process import active, pause, process, resume, state_file
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.queue import stages

#: For the C library (Linux) of the processes that are started: it keeps the memory of large tensors
#: from step to step. Returning it and asking again takes a seventh of the time of a training.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**34)}


def run(work: Work, plan: Plan, only: Sequence[str] = ()) -> None:
    """Compute the stages whose names begin with one of `only`, by default all."""
    if process() is not None:
        raise OptionError("Trainings run in the background already. See: status, pause, resume.")
    file = state_file()
    if file is None:
        raise OptionError("CGSCORE_CACHE=off leaves no folder to note the process in. Unset it.")
    file.parent.mkdir(parents=True, exist_ok=True)
    own = psutil.Process()
    text = json.dumps({"pid": own.pid, "started": own.create_time()})
    replace_file(file, lambda opened: opened.write(text.encode()))
    lower_priority()
    for name, value in KEEP_MEMORY.items():
        os.environ.setdefault(name, value)
    try:
        for name, cells in stages(plan):
            if not only or name.startswith(tuple(only)):
                start = time.perf_counter()
                try:
                    work.all(cells, name)
                except CGScoreError as error:  # the other stages do not depend on it
                    print(f"{name}: failed. {error}", flush=True)
                    continue
                except Exception:
                    print(f"{name}: failed.\n{traceback.format_exc()}", flush=True)
                    continue
                seconds = time.perf_counter() - start
                print(f"{name}: {len(cells)} cells, {seconds:,.0f} s now", flush=True)
    finally:
        file.unlink(missing_ok=True)


def progress_lines(work: Work, plan: Plan) -> list[str]:
    """How many cells of each stage are finished."""
    lines = []
    for name, cells in stages(plan):
        finished = sum((work.folder / f"{work.stem(cell)}.json").exists() for cell in cells)
        lines.append(f"{name}: {finished} of {len(cells)}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser("python -m cgscore_paper.background", description=__doc__)
    parser.add_argument("action", choices=("run", "pause", "resume", "status"))
    parser.add_argument("--data", type=Path, default=os.environ.get("CGSCORE_DATA"))
    parser.add_argument("--cells", type=Path, default=Path("results/cells"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--preset", default="full")
    parser.add_argument("--stage", action="append", default=[], help="Only stages that begin so.")
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default="float32",
        help="Of the steps of trainings. bfloat16 is faster on processors with AVX512-BF16 or AMX.",
    )
    given = parser.parse_args(arguments)
    if given.action in ("pause", "resume"):
        done = pause() if given.action == "pause" else resume()
        print("Nothing runs in the background." if not done else f"{given.action}d.")
        return 0 if done else 1
    if given.data is None:
        parser.error("give --data FOLDER, or set CGSCORE_DATA")
    work = Work(given.cells, given.data, precision=given.precision, jobs=given.jobs)
    plan = Plan.named(given.preset)
    if given.action == "run":
        run(work, plan, given.stage)
        return 0
    state = "nothing" if process() is None else "running" if active() else "paused"
    print(f"In the background: {state}")
    print(*progress_lines(work, plan), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
