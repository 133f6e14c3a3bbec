"""How good classifiers become on what each way of choosing keeps, from 10 to 90 %.

::

    python bench/selection.py -o results/selection.json            # about 20 minutes on two cores
    python bench/selection.py --show results/selection.json --plot docs/images/selection.svg
    python bench/selection.py --show results/selection.json --markdown

5,000 examples of Fashion-MNIST (others for every seed), with their own labels or with 20 % of them
wrong; scores with ridge 0, the paper's. Judged on all 10,000 test examples by two fixed
classifiers: a linear one (ridge regression to class targets) and a kernel one (the same with a
Gaussian kernel). Printed: mean test accuracy over the seeds, and its standard deviation.

Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from iterative import load
from noise import noisy
from scipy.linalg import solve
from sklearn.metrics.pairwise import rbf_kernel

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

SIZE = 5000
FRACTIONS = tuple(round(0.1 * tenth, 1) for tenth in range(1, 10))
KINDS = {"clean": None, "20 % wrong": "20 % uniform"}
ORDERS = ("random", "low-first", "high-first", "window", "stratified")
#: What is shown: the order, and whether suspects go first.
WAYS = {
    **{order: (order, False) for order in ORDERS},
    **{f"{order}, suspects dropped": (order, True) for order in ("random", "window", "stratified")},
}
LINEAR, KERNEL, GAMMA = 10.0, 0.1, 0.02  # ridges; width of the Gaussian, for pixels of 0 to 1


def targets(labels: Any) -> Any:
    return np.eye(10)[labels] - 0.1


def linear(X: Any, labels: Any, test: Any) -> Any:
    """Classes that ridge regression predicts."""
    A = np.c_[X, np.ones(len(X))]
    W = solve(A.T @ A + LINEAR * np.eye(A.shape[1]), A.T @ targets(labels), assume_a="pos")
    return np.argmax(np.c_[test, np.ones(len(test))] @ W, axis=1)


def kernel(K: Any, labels: Any, K_test: Any) -> Any:
    """The same with a kernel."""
    A = solve(K + KERNEL * np.eye(len(K)), targets(labels), assume_a="pos", overwrite_a=True)
    return np.argmax(K_test @ A, axis=1)


def run(seed: int, kinds: list[str], ways: list[str], size: int) -> list[Any]:
    X_all, y_all = load("Fashion-MNIST")
    X_test, y_test = load("Fashion-MNIST", "test")
    some = np.sort(np.random.default_rng(seed).choice(len(X_all), size, replace=False))
    X, y = X_all[some] / 255.0, np.asarray(y_all)[some].astype(int)
    X_test = X_test / 255.0
    K, K_test = rbf_kernel(X, gamma=GAMMA), rbf_kernel(X_test, X, gamma=GAMMA)
    found = []
    for kind in kinds:
        noise = KINDS[kind]
        given = y if noise is None else noisy(X, y, noise, seed)
        scores = cgscore.score(X, given, method="exact")
        for way in ways:
            order, dropped = WAYS[way]
            if dropped and given is y:
                continue
            for fraction in FRACTIONS:
                start = time.perf_counter()
                kept = scores.keep(fraction, order, drop_issues=dropped, seed=seed, progress=False)
                took = time.perf_counter() - start
                accuracies = {
                    "linear": linear(X[kept], given[kept], X_test),
                    "kernel": kernel(K[np.ix_(kept, kept)], given[kept], K_test[:, kept]),
                }
                for judge, predicted in accuracies.items():
                    found.append(
                        {
                            "labels": kind,
                            "judge": judge,
                            "way": way,
                            "fraction": fraction,
                            "seed": seed,
                            "kept": len(kept),
                            "wrong_kept": int((given != y)[kept].sum()),
                            "accuracy": float(np.mean(predicted == y_test)),
                            "seconds": took,
                        }
                    )
        print(f"seed {seed}, {kind}: done", flush=True)
    return found


def key(cell: Any) -> tuple[Any, ...]:
    """What a cell is of, in the order of tables."""
    places = [list(KINDS).index(cell["labels"]), ("linear", "kernel").index(cell["judge"])]
    return (*places, list(WAYS).index(cell["way"]), cell["fraction"], cell["seed"])


def show(cells: list[Any]) -> None:
    """A table for each kind of labels and judge."""
    for kind, judge in dict.fromkeys((cell["labels"], cell["judge"]) for cell in cells):
        mine = [cell for cell in cells if (cell["labels"], cell["judge"]) == (kind, judge)]
        seeds = len({cell["seed"] for cell in mine})
        print(f"\n{kind}, {judge} classifier: test accuracy in %, mean of {seeds} (deviation)")
        print(f"{'kept':<30}" + "".join(f"{f:>12.0%}" for f in FRACTIONS))
        for way in dict.fromkeys(cell["way"] for cell in mine):
            line = ""
            for fraction in FRACTIONS:
                values = [
                    100 * cell["accuracy"]
                    for cell in mine
                    if cell["way"] == way and cell["fraction"] == fraction
                ]
                line += f"{np.mean(values):>6.1f} ({np.std(values):.1f})"
            print(f"{way:<30}{line}")


def markdown(cells: list[Any]) -> None:
    """Means of the kernel classifier, a line for each way."""
    for kind in dict.fromkeys(cell["labels"] for cell in cells):
        print(f"\n| {kind} labels | " + " | ".join(f"{f:.0%}" for f in FRACTIONS) + " |")
        print("|---" * (len(FRACTIONS) + 1) + "|")
        mine = [cell for cell in cells if cell["labels"] == kind and cell["judge"] == "kernel"]
        ways = list(dict.fromkeys(cell["way"] for cell in mine))
        means = {
            (way, f): np.mean(
                [c["accuracy"] for c in mine if c["way"] == way and c["fraction"] == f]
            )
            for way in ways
            for f in FRACTIONS
        }
        for way in ways:
            line = []
            for f in FRACTIONS:
                best = means[way, f] >= max(means[other, f] for other in ways)
                text = f"{100 * means[way, f]:.1f}"
                line.append(f"**{text}**" if best else text)
            print(f"| {way} | " + " | ".join(line) + " |")


def plot(cells: list[Any], path: Path) -> None:
    from matplotlib import pyplot as plt

    panels = list(dict.fromkeys((cell["labels"], cell["judge"]) for cell in cells))
    figure, axes = plt.subplots(2, 2, figsize=(10, 8), squeeze=False)
    for axis, (kind, judge) in zip(axes.ravel(), panels, strict=True):
        mine = [cell for cell in cells if (cell["labels"], cell["judge"]) == (kind, judge)]
        for way in dict.fromkeys(cell["way"] for cell in mine):
            order, dropped = WAYS[way]
            values = np.array(
                [
                    [c["accuracy"] for c in mine if c["way"] == way and c["fraction"] == f]
                    for f in FRACTIONS
                ]
            )
            axis.errorbar(
                np.multiply(FRACTIONS, 100),
                100 * values.mean(axis=1),
                100 * values.std(axis=1),
                color=f"C{ORDERS.index(order)}",
                linestyle="--" if dropped else "-",
                marker="o",
                markersize=3,
                capsize=2,
                label=way,
            )
        axis.set_title(f"{kind} labels, {judge} classifier")
        axis.set_xlabel("kept, %")
        axis.set_ylabel("test accuracy, %")
        axis.grid(alpha=0.3)
        axis.set_ylim(69, None)  # low-first falls far below where little is kept
    handles, labels = axes[-1, -1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--labels", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("--markdown", action="store_true", help="with --show: as short tables")
    parser.add_argument("--plot", type=Path, help="with --show: draw it")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if asked.show:
        cells = json.loads(asked.show.read_text())["cells"]
        (markdown if asked.markdown else show)(cells)
        if asked.plot:
            plot(cells, asked.plot)
        return
    cells = []
    if asked.output and asked.output.exists():  # what is not run again stays
        cells = json.loads(asked.output.read_text())["cells"]
    for seed in asked.seeds:
        found = {key(cell): cell for cell in cells}
        found |= {key(cell): cell for cell in run(seed, asked.labels, asked.ways, asked.size)}
        cells = [found[one] for one in sorted(found)]
        if asked.output:  # after every seed: each takes minutes
            origin = {"version": cgscore.__version__, **script_origin(__file__)}
            document = {**origin, "size": asked.size, "cells": cells}
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            asked.output.write_text(json.dumps(document, indent=1) + "\n")
    show(cells)


if __name__ == "__main__":
    require_quiet()
    main()
