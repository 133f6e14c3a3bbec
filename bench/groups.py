"""What every batch of a whole dataset is worth, and what that costs.

::

    python bench/groups.py ../shared/data/fashion-mnist -o results/groups.json
    python bench/groups.py --show results/groups.json

The examples are cut into batches of consecutive rows, as files and deliveries are. The kernel
matrix is factorised once; then the gap of every batch follows from columns of the inverse factor.
Flops are counted, and the speed of large matrix products is measured before, after and every few
minutes in between (that time is not counted), because the speed of a shared machine varies: what
the machine would need for so many flops stands beside the seconds. One batch is checked in another
way: its gap is the complexity of all examples less that of the others, which takes a factor of its
own (``--check``; as long as the first).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from whole import Speedometer

import cgscore
from cgscore.execution.machine import peak_memory
from cgscore.execution.progress import Timed, reporter
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds, flops and gaps of all batches."""
    dataset = cgscore.read(options.source, split=options.split)
    X = np.asarray(dataset.X[: options.rows]).reshape(len(dataset.X[: options.rows]), -1)
    y = np.asarray(dataset.y)[: options.rows]
    n, p = X.shape
    groups = np.arange(n) * options.groups // n
    meter = Speedometer()
    start = time.perf_counter()
    factor = cgscore.factor(
        X,
        memory_limit=options.memory_limit,
        checkpoint=options.checkpoint,
        progress=meter,
    )
    factor_seconds = time.perf_counter() - start - sum(meter.spent.values())
    start, before = time.perf_counter(), sum(meter.spent.values())
    table = factor.group_gaps(groups, y, progress=Timed(reporter(meter)))
    group_seconds = time.perf_counter() - start - (sum(meter.spent.values()) - before)
    meter.measure()
    complexity = sum(factor.complexity(y).values())
    figures: dict[str, Any] = {
        **script_origin(__file__),
        "n": n,
        "p": p,
        "groups": options.groups,
        "factor_seconds": round(factor_seconds, 1),
        "group_seconds": round(group_seconds, 1),
        "group_flops": group_flops(n, options.groups),
        "dgemm_gflops": [round(rate / 1e9, 1) for rate in meter.rates],
        "peak_bytes": peak_memory(),
        "complexity": complexity,
        "gap": {"smallest": float(table["gap"].min()), "largest": float(table["gap"].max())},
    }
    factor.close()
    if options.check:
        rest = groups != 0
        without = sum(cgscore.complexity(X[rest], y[rest]).values())
        first = float(table["gap"][0])
        figures["check"] = {"gap": first, "by_removal": complexity - without}
    return figures


def group_flops(n: int, groups: int) -> float:
    """Columns of the inverse factor below each first row, and their orthogonalisation."""
    size = n / groups
    below = n - size * np.arange(groups)
    return float((size * below**2 + 2 * size**2 * below).sum())


def show(figures: dict[str, Any]) -> None:
    """Print both sides."""
    rate = float(np.mean(figures["dgemm_gflops"])) * 1e9
    n, at_that_rate = figures["n"], figures["group_flops"] / rate
    print(f"{n:,} examples of {figures['p']:,} numbers, {figures['groups']} groups, float64, exact")
    print(f"  matrix products  {rate / 1e9:8.1f} GFLOP/s, mean of {len(figures['dgemm_gflops'])}")
    print(f"  factor and d     {figures['factor_seconds']:8.0f} s")
    print(
        f"  all groups       {figures['group_seconds']:8.0f} s   "
        f"{figures['group_seconds'] / figures['factor_seconds']:.2f} of the factor's; "
        f"{figures['group_flops']:.2g} flops take {at_that_rate:.0f} s at that speed"
    )
    print(f"  peak memory      {figures['peak_bytes'] / 1e9:8.2f} GB, whole process")
    gap = figures["gap"]
    print(f"  gaps             {gap['smallest']:.4g} to {gap['largest']:.4g}")
    if "check" in figures:
        check = figures["check"]
        print(f"  first group      {check['gap']:.9g}, by removal {check['by_removal']:.9g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", nargs="?")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--split")
    parser.add_argument("--rows", type=int, help="only the first so many")
    parser.add_argument("--groups", type=int, default=60)
    parser.add_argument("--checkpoint")
    parser.add_argument("--memory-limit")
    parser.add_argument("--check", action="store_true", help="remove one group for real")
    options = parser.parse_args()
    if options.show:
        show(json.loads(options.show.read_text()))
        return
    if options.source is None:
        sys.exit("Give a source, or --show a file.")
    require_quiet()
    figures = measured(options)
    show(figures)
    if options.output:
        options.output.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
