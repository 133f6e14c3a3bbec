"""Speed and memory of the exact solver against plain numpy, as ratios measured in one run.

Run with ``make bench``; with ``-o results/exact/bench.json`` the figures are also stored, and
``--show FILE`` prints them again. Three sides are timed on the same data:

- ours: ``cgscore.score(X, y, method="exact", judge=False)``, everything included;
- inverse: the straightforward version, ``numpy.linalg.inv`` of the whole H, same result;
- recipe: the paper's, which forms the inverse without example i for every example i.

``2 n^3 / 3 flops`` is the time they take at the rate of large matrix products, measured right
before and right after. The speed of a shared machine varies: ours runs four times, the inverse
twice, and the best run counts. As much memory as both sides need is used once before, so that
neither pays for being first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import blas

import cgscore
from cgscore.execution.machine import peak_memory
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

PHASES = ("kernel", "factor", "inverse")


def data(n: int, p: int, k: int) -> tuple[Any, Any]:
    """Clustered rows that are all different, with labels that are mostly right."""
    rng = np.random.default_rng(0)
    centres = rng.random((k, p))
    y = rng.integers(0, k, n)
    return centres[y] + 0.5 * rng.random((n, p)), y


def kernel(X: Any) -> Any:
    """H in plain numpy."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    g = np.clip(U @ U.T, -1, 1)
    H = g * (np.pi - np.arccos(g)) / (2 * np.pi)
    np.fill_diagonal(H, 0.5)
    return H


def by_inverse(X: Any, y: Any) -> Any:
    """CG of every example from numpy's general inverse."""
    inverse = np.linalg.inv(kernel(X))
    classes, codes = np.unique(y, return_inverse=True)
    alpha, d = inverse @ np.where(y[:, None] == classes, 1.0, -1.0), np.diag(inverse)
    return alpha[np.arange(len(y)), codes] ** 2 / d


def by_recipe(X: Any, y: Any) -> Any:
    """CG of binary data as the paper derives it, one example after the other.

    The inverse without example i comes from the whole inverse by Schur complement (the paper's
    equation after its definition of h_i and d_i), and the score is the difference of complexities.
    """
    inverse = np.linalg.inv(kernel(X))
    whole = y @ inverse @ y
    result = np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        h, d = inverse[rest, i], inverse[i, i]
        without = inverse[np.ix_(rest, rest)] - np.outer(h, h) / d
        result[i] = whole - y[rest] @ without @ y[rest]
    return result


def timed(function: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    best = float("inf")
    for _ in range(repeat):
        time.sleep(0.2)  # threads of the BLAS call before spin for a while
        start = time.perf_counter()
        value = function()
        best = min(best, time.perf_counter() - start)
    return best, value


def products(size: int = 3000, count: int = 8) -> float:
    """Seconds for some large matrix products by the library that the solver uses."""
    A = np.asfortranarray(np.random.default_rng(0).standard_normal((size, size)))
    C = np.zeros_like(A)
    blas.dgemm(1.0, A, A, 1.0, C, trans_b=1, overwrite_c=1)
    start = time.perf_counter()
    for _ in range(count):
        blas.dgemm(1.0, A, A, 1.0, C, trans_b=1, overwrite_c=1)
    return time.perf_counter() - start


def worst_difference(a: Any, b: Any) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def peak_of_child(n: int, p: int, k: int) -> dict[str, float]:
    """Peak memory of scoring alone, in a process of its own."""
    command = [sys.executable, __file__, "--child", f"{n},{p},{k}"]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def child(n: int, p: int, k: int) -> None:
    X, y = data(n, p, k)
    before = peak_memory()
    cgscore.score(X, y, method="exact", judge=False, progress=False)
    print(json.dumps({"peak": peak_memory(), "before": before}))


def large(n: int, p: int, k: int) -> dict[str, Any]:
    """Ours against the general inverse, and against its own arithmetic."""
    X, y = data(n, p, k)
    cgscore.score(X[:200], y[:200], progress=False)  # load what is loaded on first use
    np.ones(2 * n * n)  # a virtual machine may be slow to give memory that nobody has used yet
    runs = []
    for _ in range(4):
        before = products()
        ours, scores = timed(
            lambda: cgscore.score(X, y, method="exact", judge=False, progress=False)
        )
        rate = 2 * 2 * 8 * 3000**3 / (before + products())
        runs.append((ours * rate, ours, rate, scores))
    _, ours, rate, scores = min(runs, key=lambda run: run[0])
    inverse, reference = timed(lambda: by_inverse(X, y), repeat=2)
    memory = peak_of_child(n, p, k)
    return {
        "n": n,
        "p": p,
        "classes": k,
        "gflops": rate / 1e9,
        "seconds": ours,
        "phases": {name: scores.meta["timings"][name] for name in PHASES},
        "inverse_seconds": inverse,
        "flops_seconds": 2 * n**3 / 3 / rate,
        "peak": memory["peak"] / (8 * n**2),
        "peak_above_data": (memory["peak"] - memory["before"]) / (8 * n**2),
        "difference": worst_difference(scores.table["cg"].to_numpy(), reference),
    }


def show_large(figures: dict[str, Any]) -> None:
    ours, inverse, ideal = (figures[f"{name}seconds"] for name in ("", "inverse_", "flops_"))
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in figures["phases"].items())
    print(
        f"n = {figures['n']:,}, p = {figures['p']}, {figures['classes']} classes, float64; matrix "
        f"products at {figures['gflops']:.0f} GFLOP/s"
    )
    print(f"  ours               {ours:8.2f} s   {phases}")
    print(f"  numpy.linalg.inv   {inverse:8.2f} s   ours is {inverse / ours:.2f}x faster")
    print(f"  2 n^3 / 3 flops    {ideal:8.2f} s   ours takes {ours / ideal:.2f}x that")
    print(f"  peak memory        {figures['peak']:8.2f}     x n^2 x 8 bytes, the whole process;")
    print(f"                     {figures['peak_above_data']:8.2f}     of them above the data")
    print(f"  largest difference {figures['difference']:.1e}")


def small(n: int, p: int) -> dict[str, Any]:
    """Ours against the paper's recipe."""
    X, y = data(n, p, 2)
    y = 2 * y - 1
    cgscore.score(X[:200], y[:200], progress=False)
    ours, scores = timed(
        lambda: cgscore.score(X, y, method="exact", judge=False, progress=False), repeat=3
    )
    recipe, reference = timed(lambda: by_recipe(X, y))
    difference = worst_difference(scores.table["cg"].to_numpy(), reference)
    return {"n": n, "p": p, "seconds": ours, "recipe_seconds": recipe, "difference": difference}


def show_small(figures: dict[str, Any]) -> None:
    ours, recipe = figures["seconds"], figures["recipe_seconds"]
    print(f"n = {figures['n']:,}, p = {figures['p']}, binary")
    print(f"  ours               {ours:8.3f} s")
    print(f"  the paper's recipe {recipe:8.2f} s   ours is {recipe / ours:.0f}x faster")
    print(f"  largest difference {figures['difference']:.1e}")


def show(document: dict[str, Any]) -> None:
    show_small(document["small"])
    show_large(document["large"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10_000, help="size of the large problem")
    parser.add_argument("-p", type=int, default=784)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, help="a JSON file for the figures")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    options = parser.parse_args()
    if options.child:
        child(*map(int, options.child.split(",")))
        return
    if options.show:
        show(json.loads(options.show.read_text()))
        return
    require_quiet()
    document = {"small": small(2_000, options.p), "large": large(options.n, options.p, 10)}
    show(document)
    if options.output:
        text = json.dumps({**script_origin(__file__), **document}, indent=1)
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
