"""The paper's estimator and random partitions against the exact scores.

::

    python bench/subsample.py convergence -o results/subsample/convergence.json
    python bench/subsample.py convergence --raw
    python bench/subsample.py partition   -o results/subsample/partition.json
    python bench/subsample.py whole       -o results/subsample/whole.json

``convergence`` is the paper's study (appendix A): 10,000 CIFAR-10 images, 1,000 of each class;
after 1 to 20 runs for ratios 1 to 4, Spearman's and Pearson's correlation with the exact score.
Every channel is standardised first, by its mean and deviation over all training images, as is usual
for training: with that the paper's figures come out. ``--raw`` takes the pixels as they are.
``partition`` is what blocks of half, a quarter and an eighth of those images and 1 to 8 runs give,
with the time of each and of the exact and iterative methods in the same run. ``whole`` is what
partition gives for all of CIFAR-10 and Fashion-MNIST against the exact scores in results/exact.

Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from iterative import compare, load

import cgscore
from cgscore.data import read
from cgscore.execution.executor import Local
from cgscore.execution.progress import Silent
from cgscore.methods.averaging import shared_problem
from cgscore.problem import Inputs
from cgscore.solvers.iterative.audit import rank_correlation
from cgscore.solvers.sampled import partition, subsample
from cgscore.solvers.sampled.averages import Averages
from cgscore.solvers.sampled.tasks import in_order
from cgscore.valuation import margin
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

PAPER = {1: (0.829, 0.796), 2: (0.914, 0.898), 3: (0.953, 0.943), 4: (0.973, 0.967)}
RUNS = 20
PER_CLASS = 1000


def small_cifar(raw: bool = True, seed: int = 0) -> Any:
    """1,000 images of each class, as they are or with standardised channels."""
    X, y = load("CIFAR-10")
    rng = np.random.default_rng(seed)
    some = [rng.choice(np.flatnonzero(y == c), PER_CLASS, replace=False) for c in range(10)]
    chosen = np.sort(np.concatenate(some))
    pixels = X[chosen].astype(np.float64) if raw else standardised(X[chosen], X)
    return read(pixels, labels=y[chosen])


def standardised(X: Any, whole: Any) -> Any:
    """Pixels with the channels' mean over all images taken off, and divided by their deviation."""
    channels = whole.reshape(-1, 3)
    pixels = X.reshape(-1, 3) - channels.mean(axis=0)
    return (pixels / channels.std(axis=0)).reshape(len(X), -1)


def convergence(raw: bool) -> dict[str, Any]:
    data = small_cifar(raw)
    true = cgscore.score(data, method="exact").table["cg"].to_numpy()
    shared, slot = shared_problem(Inputs(data, ridge=0.0).labelled(), 0)
    n, p = data.shape
    counts = np.bincount(shared.slots.column).tolist()
    found: dict[str, Any] = {"channels": "as they are" if raw else "standardised"}
    print(f"{n:,} CIFAR-10 images, {PER_CLASS:,} of each class, channels {found['channels']}")
    print("correlation with the exact score")
    print("ratio  runs   Spearman          Pearson           seconds")
    for ratio, paper in PAPER.items():
        start = time.perf_counter()
        draws = subsample.draws(counts, n, p, ratio, RUNS)
        results = in_order(draws, subsample.solve_draw, shared, Local(), None, Silent())
        means = Averages(shared.slots)
        rows: list[tuple[float, float]] = []
        for draw, solved in zip(draws, results, strict=True):
            chosen = subsample.chosen(shared.slots, draw, shared.seed)
            means.add(chosen, np.array(draw.classes), solved)
            if means.count.min() > len(rows):
                cg = means.mean["cg"][slot]
                rows.append((rank_correlation(cg, true), float(np.corrcoef(cg, true)[0, 1])))
        seconds = time.perf_counter() - start
        for runs in (1, 2, 5, 10, 20):
            ours = rows[runs - 1]
            beside = f"  paper {paper[0]:.3f}, {paper[1]:.3f}" if runs == RUNS else ""
            print(f"1:{ratio}  {runs:5d}   {ours[0]:.4f}           {ours[1]:.4f}{beside}")
        apart = max(abs(rows[-1][0] - paper[0]), abs(rows[-1][1] - paper[1]))
        print(f"      {seconds:.0f} s; {apart:.3f} from the paper (aim 0.03)", flush=True)
        found[f"1:{ratio}"] = {
            "spearman": [row[0] for row in rows],
            "pearson": [row[1] for row in rows],
            "paper": dict(zip(("spearman", "pearson"), paper, strict=True)),
            "seconds": seconds,
        }
    return found


def trade_off() -> dict[str, Any]:
    data = small_cifar()
    y = np.asarray(data.y)
    seconds, scores = {}, {}
    for method in ("exact", "iterative"):
        start = time.perf_counter()
        scores[method] = cgscore.score(data, method=method)
        seconds[method] = time.perf_counter() - start
    true = scores["exact"].table
    shared, slot = shared_problem(Inputs(data, ridge=0.0).labelled(), 0)
    n, p = data.shape
    rows: list[dict[str, Any]] = []
    print(f"{n:,} CIFAR-10 images; rank correlation with the exact scores")
    print("                          seconds     cg   margin")

    def show(name: str, spent: float, cg: Any, margins: Any) -> None:
        one = rank_correlation(cg, true["cg"].to_numpy())
        two = rank_correlation(margins, true["margin"].to_numpy())
        rows.append({"method": name, "seconds": spent, "cg": one, "margin": two})
        print(f"{name:<25} {spent:7.1f} {one:7.4f} {two:7.4f}", flush=True)

    show("exact", seconds["exact"], true["cg"], true["margin"])
    table = scores["iterative"].table
    show("iterative", seconds["iterative"], table["cg"], table["margin"])
    for count in (2, 4, 8):
        for runs in (1, 2, 4, 8):
            start = time.perf_counter()
            blocks = partition.blocks(n, p, count, runs)
            means, _ = partition.solve(shared, blocks, executor=Local(), progress=Silent())
            spent = time.perf_counter() - start
            cg, loo = means.mean["cg"][slot], means.loo()
            show(f"blocks of {n // count:,}, {runs} runs", spent, cg, margin(loo, y))
    return {"rows": rows}


def whole() -> dict[str, Any]:
    rows = []
    for name, file in (("CIFAR-10", "cifar10"), ("Fashion-MNIST", "fashion-mnist")):
        X, y = load(name)
        true = pq.read_table(Path("results/exact") / f"{file}.parquet").to_pandas()
        for runs in (1, 2):
            start = time.perf_counter()
            found = cgscore.score(X, y, method="partition", runs=runs)
            spent = time.perf_counter() - start
            cg, margins, top = compare(found.table, true)
            row = {"data": name, "blocks": found.meta["blocks"], "runs": runs, "seconds": spent}
            rows.append(row | {"cg": cg, "margin": margins, "top": top})
            print(
                f"{name}, all {len(y):,}, {found.meta['blocks']} blocks, {runs} runs: "
                f"{spent:.0f} s; cg {cg:.4f}, margin {margins:.4f}, top 1 % {top:.3f}",
                flush=True,
            )
    return {"rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=("convergence", "partition", "whole"))
    parser.add_argument("-o", "--output", type=Path, help="also write the numbers as JSON")
    parser.add_argument("--raw", action="store_true", help="pixels as they are")
    asked = parser.parse_args()
    if asked.what == "convergence":
        found = convergence(asked.raw)
    else:
        found = {"partition": trade_off, "whole": whole}[asked.what]()
    if asked.output:
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        document = {"version": cgscore.__version__, **script_origin(__file__), **found}
        asked.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    require_quiet()
    main()
