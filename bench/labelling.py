"""How good classifiers become with the labels that each way of asking buys.

::

    python bench/labelling.py -o results/labelling.json
    python bench/labelling.py --show results/labelling.json

A pool of 5,000 examples of Fashion-MNIST, others for every seed, of which 50 at random are labelled
at the start. Labels are bought up to 1,600. ``random`` buys at random, ``margin`` in rounds of 50
those whose two best classes kernel regression on the labels bought so far tells apart least,
``variance`` by `Factor.next`, which needs no labels: all in one go. Judges are those of
`judges.py`, with all 10,000 test examples.

Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import judges
import numpy as np
from selection import data
from sklearn.metrics.pairwise import euclidean_distances

import cgscore

SIZE, START, ROUND, RIDGE = 5000, 50, 50, 0.03
BUDGETS = (50, 100, 200, 400, 800, 1600)
WAYS = ("random", "margin", "variance")


def bought(way: str, X: Any, y: Any, seed: int) -> Any:
    """Positions in the order in which their labels are bought, those at the start first."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    if way == "random":
        return order
    start = order[:START]
    if way == "variance":
        rest = np.setdiff1d(np.arange(len(X)), start)
        factor = cgscore.factor(X[start], ridge=RIDGE)
        return np.r_[start, rest[factor.next(X[rest], BUDGETS[-1] - START, progress=False)]]
    H, Y, known = cgscore.gram(X), judges.targets(y, 10), start
    while len(known) < BUDGETS[-1]:
        A = np.linalg.solve(H[np.ix_(known, known)] + RIDGE * np.eye(len(known)), Y[known])
        best = np.sort(H[:, known] @ A, axis=1)
        margin = best[:, -1] - best[:, -2]
        margin[known] = np.inf
        known = np.r_[known, np.argsort(margin, kind="stable")[:ROUND]]
    return known


def run(seed: int) -> list[Any]:
    X, y, X_test, y_test = data("Fashion-MNIST", SIZE, seed)
    near = euclidean_distances(X_test, X, squared=True)
    gamma = 1 / float(np.median(near[::50]))
    near = np.exp(-gamma * near)
    cells = []
    for way in WAYS:
        order = bought(way, X, y, seed)
        for budget in BUDGETS:
            kept = order[:budget]
            K = np.exp(-gamma * euclidean_distances(X[kept], squared=True))
            predicted = {
                "linear": judges.linear(X[kept], y[kept], X_test, 10),
                "kernel": judges.kernel(K, y[kept], near[:, kept], 10),
                "neighbours": judges.neighbours(y, kept, near, 10),
            }
            cells += [
                {
                    "way": way,
                    "labels": budget,
                    "judge": judge,
                    "seed": seed,
                    "accuracy": float(np.mean(classes == y_test)),
                }
                for judge, classes in predicted.items()
            ]
        print(f"seed {seed}, {way}: done", flush=True)
    return cells


def show(cells: list[Any]) -> None:
    for judge in dict.fromkeys(cell["judge"] for cell in cells):
        print(f"\n| {judge}, labels bought | " + " | ".join(map(str, BUDGETS)) + " |")
        print("|---" * (len(BUDGETS) + 1) + "|")
        for way in WAYS:
            line = []
            for budget in BUDGETS:
                values = [
                    100 * cell["accuracy"]
                    for cell in cells
                    if (cell["judge"], cell["way"], cell["labels"]) == (judge, way, budget)
                ]
                line.append(f"{np.mean(values):.1f} ({np.std(values):.1f})")
            print(f"| {way} | " + " | ".join(line) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    if options.show:
        show(json.loads(options.show.read_text())["cells"])
        return
    cells: list[Any] = []
    for seed in options.seeds:
        cells += run(seed)
        if options.output:
            document = {"version": cgscore.__version__, "size": SIZE, "cells": cells}
            options.output.parent.mkdir(parents=True, exist_ok=True)
            options.output.write_text(json.dumps(document, indent=1) + "\n")
    show(cells)


if __name__ == "__main__":
    main()
