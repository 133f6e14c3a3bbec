"""The exact solver at n = 10,000 and 20,000: memory, speed, growth, agreement, and out of core.

::

    python bench/tiles.py -o results/exact/tiles.json     # about a quarter of an hour
    python bench/tiles.py --show results/exact/tiles.json

Ours and the out-of-core run go twice at the larger size, in turn, and the better run of each
counts; matrix products are timed before and after every run (see `exact`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from exact import data, kernel, products, timed

import cgscore
from cgscore.execution.machine import peak_memory, show_bytes
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

P, K = 784, 10


class Run:
    """One run of ours, with the time of 2 n^3 / 3 flops at the speed of products around it."""

    def __init__(self, X: Any, y: Any, limit: str | None = None) -> None:
        before = products()
        self.seconds, self.scores = timed(
            lambda: cgscore.score(
                X, y, method="exact", judge=False, memory_limit=limit, progress=False
            )
        )
        self.rate = 2 * 2 * 8 * 3000**3 / (before + products())
        self.ideal = 2 * len(y) ** 3 / 3 / self.rate

    @property
    def ratio(self) -> float:
        """Time as a multiple of the ideal."""
        return self.seconds / self.ideal

    def figures(self) -> dict[str, Any]:
        """Seconds in all, of the phases and of the arithmetic, and the speed of products."""
        times = self.scores.meta["timings"]
        phases = {name: times[name] for name in ("kernel", "factor", "inverse")}
        rate = self.rate / 1e9
        return {
            "seconds": self.seconds,
            "phases": phases,
            "flops_seconds": self.ideal,
            "gflops": rate,
        }


def child(n: int, limit: str | None) -> dict[str, int]:
    """Memory before and at the peak of scoring, in a process of its own."""
    command = [sys.executable, __file__, "--child", str(n), "--limit", limit or ""]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def measure(n: int, limit: str | None) -> None:
    X, y = data(n, P, K)
    cgscore.score(X[:200], y[:200], progress=False)
    before = peak_memory()
    cgscore.score(X, y, method="exact", judge=False, memory_limit=limit, progress=False)
    print(json.dumps({"peak": peak_memory(), "before": before}))


def differences(scores: cgscore.Scores, X: Any, y: Any, inverse: Any) -> dict[str, float]:
    """Largest difference to the dense solution, relative to a column's largest value."""
    classes, codes = np.unique(y, return_inverse=True)
    Y = np.where(y[:, None] == classes, 1.0, -1.0)
    alpha, d = inverse @ Y, np.diag(inverse).copy()
    mine, everyone = alpha[np.arange(len(y)), codes], np.arange(len(y))
    loo = Y - alpha / d[:, None]
    others = loo.copy()
    others[everyone, codes] = -np.inf
    dense = {
        "d": (scores.d, d),
        "alpha": (scores.alpha, mine),
        "cg": (scores.table["cg"], mine**2 / d),
        "partial": (scores.table["partial"], 2 * (mine - d)),
        "margin": (scores.table["margin"], loo[everyone, codes] - others.max(axis=1)),
    }
    return {
        name: float(np.abs(np.asarray(a) - b).max() / np.abs(b).max())
        for name, (a, b) in dense.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=20_000, help="the larger size")
    parser.add_argument("--limit", default="1GB", help="memory limit of the out-of-core run")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, help="a JSON file for the figures")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    options = parser.parse_args()
    if options.child:
        measure(options.child, options.limit or None)
        return
    if options.show:
        show(json.loads(options.show.read_text()))
        return
    require_quiet()
    document = measured(options.n, options.limit)
    show(document)
    if options.output:
        text = json.dumps({**script_origin(__file__), **document}, indent=1)
        options.output.write_text(text + "\n")


def measured(n: int, limit: str) -> dict[str, Any]:
    """All runs and the general inverse."""
    X, y = data(n, P, K)
    cgscore.score(X[:200], y[:200], progress=False)  # load what is loaded on first use
    np.ones(2 * n * n)  # a virtual machine may be slow to give memory that nobody has used yet
    half = min((Run(X[: n // 2], y[: n // 2]) for _ in range(3)), key=lambda run: run.ratio)
    runs = [(Run(X, y), Run(X, y, limit)) for _ in range(2)]
    ours = min((pair[0] for pair in runs), key=lambda run: run.ratio)
    disk = min((pair[1] for pair in runs), key=lambda run: run.ratio)
    seconds, inverse = timed(lambda: np.linalg.inv(kernel(X)))
    worst = differences(ours.scores, X, y, inverse)
    del inverse
    return {
        "n": n,
        "p": P,
        "classes": K,
        "limit": limit,
        "ours": ours.figures(),
        "half": half.figures(),
        "disk": {**disk.figures(), "storage": disk.scores.meta["storage"]},
        "inverse_seconds": seconds,
        "differences": worst,
        "memory": child(n, None),
        "disk_memory": child(n, limit),
    }


def show(document: dict[str, Any]) -> None:
    """Print figures of `measured`."""
    n, ours, half, disk = (document[name] for name in ("n", "ours", "half", "disk"))
    seconds = ours["seconds"]
    print(
        f"n = {n:,}, p = {document['p']}, {document['classes']} classes; matrix products at "
        f"{ours['gflops']:.0f} GFLOP/s"
    )
    print(f"  ours               {seconds:8.1f} s   {_phases(ours)}")
    print(
        f"  2 n^3 / 3 flops    {ours['flops_seconds']:8.1f} s   ours takes "
        f"{seconds / ours['flops_seconds']:.2f}x that"
    )
    inverse = document["inverse_seconds"]
    print(f"  numpy.linalg.inv   {inverse:8.1f} s   ours is {inverse / seconds:.2f}x faster")
    inside, outside = document["memory"], document["disk_memory"]
    above = (inside["peak"] - inside["before"]) / (8 * n**2)
    print(f"  peak memory        {above:8.3f}     x n^2 x 8 bytes above the data")
    growth = seconds / half["seconds"]
    print(f"  n = {n // 2:,}         {half['seconds']:8.1f} s   grows {growth:.2f}x;")
    even = growth * ours["gflops"] / half["gflops"]
    print(f"                     {even:8.2f}x    at the same speed of products")
    named = ", ".join(f"{name} {value:.1e}" for name, value in document["differences"].items())
    print(f"  differences        {named}")
    print(f"under a memory limit of {document['limit']}, panels on {disk['storage']}")
    slower = disk["seconds"] / seconds
    print(f"  from disk          {disk['seconds']:8.1f} s   {_phases(disk)}; {slower:.2f}x")
    taken, whole = outside["peak"] - outside["before"], outside["peak"]
    print(f"  peak memory        {show_bytes(taken)} above the data, {show_bytes(whole)} in all")


def _phases(figures: dict[str, Any]) -> str:
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in figures["phases"].items())


if __name__ == "__main__":
    main()
