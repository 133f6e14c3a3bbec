"""Whether trainings in bfloat16 reach the accuracy of those in float32, and how fast steps are.

::

    python bench/precision.py speed             # images a second, in both precisions
    nice python bench/precision.py accuracy     # half an hour on two cores; goes on if stopped
    python bench/precision.py --show

``speed`` trains on one core for a few steps. ``accuracy`` repeats trainings of the first stage of
`cgscore_paper.queue` (all of CIFAR-10, and without the 40 % of lowest CG-score) whose accuracy in
float32 is stored in results/cells: the same weights, batches and augmentation, in bfloat16. Both
write to results/precision.json. Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.execution.files import replace_file
from cgscore.execution.machine import lower_priority
from cgscore.training import preset, train
from cgscore.training.loop.settings import PRECISIONS
from cgscore_paper.background import KEEP_MEMORY
from cgscore_paper.background_process import require_quiet
from cgscore_paper.cells import Work
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.provenance import script_origin
from cgscore_paper.queue import pilot

DATA = Path(os.environ.get("CGSCORE_DATA", "../shared/data"))
RESULTS = Path(__file__).parents[1] / "results"
RESULTS_FILE = RESULTS / "precision.json"
STEPS, TIMES = 10, 2  # of a training that is timed, and trainings of which the fastest counts
WAYS = {"full": "all examples", "exact_cg": "40 % of lowest CG-score removed"}


def repeated() -> list[Cell]:
    """The trainings that are repeated."""
    return [
        cell
        for cell in pilot(Plan.named("full"), "cifar-10")
        if cell.options["by"] in WAYS and cell.options["order"] == "low-first"
    ]


def accuracy(cell: Cell) -> float:
    """Test accuracy in bfloat16."""
    import torch

    torch.set_num_threads(1)
    lower_priority()
    work = Work(RESULTS / "cells", DATA, precision="bfloat16")
    return float(cell.job(work, **cell.options)["accuracy"])


def speed() -> dict[str, float]:
    """Images a second on one core, in steps of the preset ``full`` on images of CIFAR-10's size."""
    import torch

    torch.set_num_threads(1)
    full, rng = preset("full"), np.random.default_rng(0)
    size = full.settings.batch_size
    X, y = rng.integers(0, 256, (size, 32, 32, 3), np.uint8), rng.integers(0, 10, size)
    found = {}
    for precision in PRECISIONS:
        settings = replace(full.settings, epochs=STEPS, precision=precision)
        seconds = []
        for _ in range(TIMES):
            start = time.perf_counter()
            train(full.build(10), X, y, settings=settings, records=False, progress=False)
            seconds.append(time.perf_counter() - start)
        found[precision] = STEPS * size / min(seconds)
    return found


def store(**parts: Any) -> None:
    """Put parts in the place of those of the same name."""
    known = json.loads(RESULTS_FILE.read_text()) if RESULTS_FILE.exists() else {}
    text = json.dumps({**known, **parts}, indent=1) + "\n"
    replace_file(RESULTS_FILE, lambda opened: opened.write(text.encode()))


def repeat(jobs: int) -> None:
    """Repeat the trainings that are left."""
    stored = Work(RESULTS / "cells", DATA)
    found = json.loads(RESULTS_FILE.read_text()).get("cells", []) if RESULTS_FILE.exists() else []
    done = {(cell["kept"], cell["repeat"]) for cell in found}

    def keep(cell: Cell, future: Future[float]) -> None:
        place = {"kept": WAYS[cell.options["by"]], "repeat": cell.options["repeat"]}
        both = {"float32": stored.load(cell)["accuracy"], "bfloat16": future.result()}
        found.append({**place, **both, **script_origin(__file__)})
        store(cells=found)
        print(found[-1]["kept"], both, flush=True)

    running = []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for cell in repeated():
            if (WAYS[cell.options["by"]], cell.options["repeat"]) not in done:
                running.append(pool.submit(accuracy, cell))
                running[-1].add_done_callback(partial(keep, cell))
    for future in running:
        future.result()


def show(document: dict[str, Any]) -> None:
    """Speeds, both accuracies of every training, and their mean difference with its error."""
    if speeds := document.get("speed"):
        ratio = speeds["bfloat16"] / speeds["float32"]
        line = "Images a second on one core: float32 {float32:,.0f}, bfloat16 {bfloat16:,.0f}"
        print(f"{line.format(**speeds)}, {ratio:.2f} times as many")
    cells = sorted(document.get("cells", []), key=lambda cell: (cell["kept"], cell["repeat"]))
    if not cells:
        return
    print("| trained on | repeat | float32 | bfloat16 |\n|---|---:|---:|---:|")
    for cell in cells:
        print("| {kept} | {repeat} | {float32:.4f} | {bfloat16:.4f} |".format(**cell))
    apart = np.array([cell["bfloat16"] - cell["float32"] for cell in cells])
    if len(apart) > 2:
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        print(f"\nbfloat16 - float32: {apart.mean():+.4f}, standard error {error:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("what", nargs="?", choices=("speed", "accuracy"))
    parser.add_argument("--show", action="store_true", help="print what is stored and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if not asked.show and asked.what is None:
        parser.error("say what to measure: speed or accuracy")
    for name, value in KEEP_MEMORY.items():
        os.environ.setdefault(name, value)
    if asked.what == "speed":
        require_quiet()
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # with KEEP_MEMORY
            store(speed={**pool.submit(speed).result(), **script_origin(__file__)})
    elif asked.what == "accuracy":
        repeat(asked.jobs)
    if RESULTS_FILE.exists():
        show(json.loads(RESULTS_FILE.read_text()))


if __name__ == "__main__":
    main()
