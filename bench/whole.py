"""Exact scores of a whole dataset: time, memory, and the share of the machine's speed reached.

::

    python bench/whole.py ../shared/data/fashion-mnist -o results/exact/fashion-mnist.parquet
    python bench/whole.py ../shared/data/cifar10/train.parquet -o results/exact/cifar10.parquet

The speed of large matrix products is measured before, after and every few minutes in between (that
time is not counted), because the speed of a shared machine varies. The columns cg, partial, d and
margin are written in float32, in input order, with the command and the figures as metadata.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from exact import products

import cgscore
from cgscore.execution.machine import peak_memory
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

EVERY = 240  # seconds between measurements of the machine's speed


class Speedometer:
    """Listens to the progress of the work and measures the machine now and then."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.spent: dict[str, float] = {}
        self._next = time.perf_counter() + EVERY
        self.measure()

    def __call__(self, phase: str, fraction: float) -> None:
        """Hear how far a phase is."""
        start = time.perf_counter()
        if start > self._next:
            self.measure()
            self.spent[phase] = self.spent.get(phase, 0.0) + time.perf_counter() - start
            self._next = time.perf_counter() + EVERY
            print(f"  {phase} {fraction:.0%}, products {self.rates[-1] / 1e9:.0f} GFLOP/s")
            sys.stdout.flush()

    def measure(self) -> None:
        """Time some products."""
        count = 4
        self.rates.append(2 * count * 3000**3 / products(count=count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--split")
    parser.add_argument("--rows", type=int, help="only the first so many")
    parser.add_argument("--checkpoint")
    parser.add_argument("--memory-limit")
    parser.add_argument("--dtype", default="float64")
    options = parser.parse_args()
    dataset = cgscore.read(options.source, split=options.split)
    X, y = dataset.X[: options.rows], np.asarray(dataset.y)[: options.rows]
    n, p = len(X), X[0].size
    meter = Speedometer()
    start = time.perf_counter()
    scores = cgscore.score(
        X,
        y,
        method="exact",
        dtype=options.dtype,
        memory_limit=options.memory_limit,
        checkpoint=options.checkpoint,
        progress=meter,
    )
    wall = time.perf_counter() - start - sum(meter.spent.values())
    meter.measure()
    seconds = {
        name: scores.meta["timings"][name] - meter.spent.get(name, 0.0)
        for name in ("kernel", "factor", "inverse", "solve")
    }
    rate = float(np.mean(meter.rates))
    flops = 2 * n**3 / 3
    reached = flops / (seconds["factor"] + seconds["inverse"]) / rate
    figures = {
        "version": cgscore.__version__,
        **script_origin(__file__),
        "n": n,
        "p": p,
        "dtype": options.dtype,
        "wall_seconds": round(wall, 1),
        "phases": {name: round(value, 1) for name, value in seconds.items()},
        "dgemm_gflops": [round(value / 1e9, 1) for value in meter.rates],
        "share_of_dgemm": round(reached, 3),
        "times_of_flops": round(wall * rate / flops, 3),
        "peak_bytes": peak_memory(),
        "condition": scores.meta["condition"],
        "loo_accuracy": scores.accuracy(),
        "loss": scores.meta["loss"],
    }
    table = pa.table(
        {
            "cg": scores.table["cg"].to_numpy(np.float32),
            "partial": scores.table["partial"].to_numpy(np.float32),
            "d": scores.d.astype(np.float32),
            "margin": scores.table["margin"].to_numpy(np.float32),
        }
    ).replace_schema_metadata({"cgscore": json.dumps(figures)})
    pq.write_table(table, options.output, compression="zstd")
    print(f"{n:,} examples of {p:,} numbers, {options.dtype}, exact")
    phases = ", ".join(f"{name} {value:.0f}" for name, value in seconds.items())
    low, high = min(meter.rates) / 1e9, max(meter.rates) / 1e9
    print(f"  wall time        {wall:8.0f} s   {phases}")
    print(f"  matrix products  {rate / 1e9:8.1f} GFLOP/s, from {low:.1f} to {high:.1f}")
    print(f"  reached          {reached:8.2f} of that in factor and inverse (aim 0.85)")
    print(f"  peak memory      {peak_memory() / 1e9:8.2f} GB, whole process (aim 18 for 60,000)")
    print(f"  written          {options.output}, {os.path.getsize(options.output) / 1e6:.2f} MB")


if __name__ == "__main__":
    require_quiet()
    main()
