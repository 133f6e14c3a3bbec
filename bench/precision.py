"""Whether trainings in bfloat16 reach the accuracy of those in float32.

::

    nice python bench/precision.py      # half an hour on two cores; goes on where it stopped
    python bench/precision.py --show

Repeats trainings of the first stage of `cgscore_paper.queue` (all of CIFAR-10, and without the 40 %
of lowest CG-score) whose accuracy in float32 is stored in results/cells: the same weights, batches
and augmentation, in bfloat16. Writes results/precision.json. Data are found in CGSCORE_DATA, by
default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.execution.files import replace_file
from cgscore.execution.machine import lower_priority
from cgscore_paper.background import KEEP_MEMORY
from cgscore_paper.cells import Work
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.provenance import script_origin
from cgscore_paper.queue import pilot

DATA = Path(os.environ.get("CGSCORE_DATA", "../shared/data"))
RESULTS = Path(__file__).parents[1] / "results"
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


def show(cells: list[Any]) -> None:
    """Both accuracies of every training, and the mean difference with its standard error."""
    print("| trained on | repeat | float32 | bfloat16 |\n|---|---:|---:|---:|")
    for cell in sorted(cells, key=lambda cell: (cell["kept"], cell["repeat"])):
        print("| {kept} | {repeat} | {float32:.4f} | {bfloat16:.4f} |".format(**cell))
    apart = np.array([cell["bfloat16"] - cell["float32"] for cell in cells])
    error = apart.std(ddof=1) / np.sqrt(len(apart))
    print(f"\nbfloat16 - float32: {apart.mean():+.4f}, standard error {error:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--show", action="store_true", help="print the table again and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked, path = parser.parse_args(), RESULTS / "precision.json"
    found = json.loads(path.read_text())["cells"] if path.exists() else []
    if asked.show:
        show(found)
        return
    for name, value in KEEP_MEMORY.items():
        os.environ.setdefault(name, value)
    stored = Work(RESULTS / "cells", DATA)

    def keep(cell: Cell, future: Future[float]) -> None:
        place = {"kept": WAYS[cell.options["by"]], "repeat": cell.options["repeat"]}
        both = {"float32": stored.load(cell)["accuracy"], "bfloat16": future.result()}
        found.append({**place, **both, **script_origin(__file__)})
        text = json.dumps({"cells": found}, indent=1) + "\n"
        replace_file(path, lambda opened: opened.write(text.encode()))
        print(found[-1]["kept"], both, flush=True)

    done = {(cell["kept"], cell["repeat"]) for cell in found}
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for cell in repeated():
            if (WAYS[cell.options["by"]], cell.options["repeat"]) not in done:
                pool.submit(accuracy, cell).add_done_callback(partial(keep, cell))
    show(found)


if __name__ == "__main__":
    main()
