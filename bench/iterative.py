"""The iterative method against the exact one: accuracy, time, honesty of the audit, growth.

::

    python bench/iterative.py accuracy     # n = 10,000 and 20,000, clean and noisy, two ridges
    python bench/iterative.py audit        # ten seeds at n = 10,000
    python bench/iterative.py growth       # n = 20,000 and 40,000
    python bench/iterative.py paper        # the paper's estimator at equal time
    python bench/iterative.py whole        # all of CIFAR-10 against results/exact/

Data are found in CGSCORE_DATA, by default ../shared/data. The time of the exact solver and of the
iterative method are taken in the same run, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import cgscore
from cgscore.execution.machine import peak_memory
from cgscore.solvers.iterative.audit import rank_correlation
from cgscore_paper.background_process import require_quiet

DATA = Path(os.environ.get("CGSCORE_DATA", "../shared/data"))
SOURCES = {"Fashion-MNIST": "fashion-mnist", "CIFAR-10": "cifar10/train.parquet"}


def load(name: str, split: str | None = None) -> tuple[Any, Any]:
    """Pixels and labels of a whole split."""
    dataset = cgscore.read(DATA / SOURCES[name], split=split)
    return dataset.X.reshape(len(dataset), -1), np.asarray(dataset.y)


def sample(name: str, n: int, seed: int = 0) -> tuple[Any, Any]:
    """N examples at random."""
    X, y = load(name)
    some = np.sort(np.random.default_rng(seed).choice(len(X), n, replace=False))
    return X[some].astype(np.float64), y[some]


def flipped(y: Any, share: float, seed: int = 0) -> Any:
    """Labels of which an exact share is replaced by another class at random."""
    rng = np.random.default_rng(seed)
    y = y.copy()
    wrong = rng.choice(len(y), round(share * len(y)), replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, 10, len(wrong))) % 10
    return y


def compare(found: Any, true: Any) -> tuple[float, float, float]:
    """Rank correlations of cg and margin, and the common part of the top 1 % by cg."""
    top = [set(np.argsort(-table["cg"].to_numpy())[: len(table) // 100]) for table in (found, true)]
    return (
        rank_correlation(found["cg"].to_numpy(), true["cg"].to_numpy()),
        rank_correlation(found["margin"].to_numpy(), true["margin"].to_numpy()),
        len(top[0] & top[1]) / len(top[1]),
    )


def iterative(X: Any, y: Any, ridge: float = 0.0, seed: int = 0) -> tuple[float, Any]:
    start = time.perf_counter()
    scores = cgscore.score(
        X, y, method="iterative", ridge=ridge, seed=seed, judge=False, progress=False
    )
    return time.perf_counter() - start, scores


def accuracy(sizes: list[int], names: list[str], ridges: list[float]) -> None:
    print("data           n       ridge labels  |  cg      margin  top 1 % |  seconds of exact")
    for n in sizes:
        for name in names:
            X, clean = sample(name, n)
            labels = {"clean": clean, "20 %": flipped(clean, 0.2)}
            for ridge in ridges:
                start = time.perf_counter()
                factor = cgscore.factor(X, ridge=ridge, progress=False)
                once = time.perf_counter() - start
                for kind, y in labels.items():
                    start = time.perf_counter()
                    true = factor.score(y)
                    exact = once + time.perf_counter() - start
                    seconds, found = iterative(X, y, ridge)
                    cg, margin, top = compare(found.table, true.table)
                    print(
                        f"{name:14} {n:6,} {ridge:6} {kind:6}  |  {cg:.5f} {margin:.5f} {top:.3f}"
                        f"   |  {seconds:6.1f} {exact:6.1f}  {seconds / exact:.2f}"
                        f"  {describe(found)}",
                        flush=True,
                    )
                del factor


def describe(scores: Any) -> str:
    times = ", ".join(f"{name} {value:.1f}" for name, value in scores.meta["timings"].items())
    return f"({times}; iterations {scores.meta['iterations']})"


def audit(n: int) -> None:
    for name in SOURCES:
        X, y = sample(name, n)
        true = cgscore.score(X, y, method="exact", judge=False, progress=False).table
        inside, widths = 0, []
        for seed in range(10):
            _, found = iterative(X, y, seed=seed)
            cg, _, _ = compare(found.table, true)
            low, high = found.meta["audit"]["rank_correlation_interval"]
            inside += low <= cg <= high
            widths.append(high - low)
            print(f"  seed {seed}: true {cg:.5f}, audit {low:.5f} to {high:.5f}", flush=True)
        print(
            f"{name}, n = {n:,}: the interval holds the truth {inside} times of 10 (aim 9); "
            f"widest {max(widths):.4f} (aim 0.004)"
        )


def growth(n: int) -> None:
    X, y = sample("Fashion-MNIST", 2 * n)
    half, first = iterative(X[:n], y[:n])
    whole, second = iterative(X, y)
    print(f"n = {n:,}: {half:.1f} s {describe(first)}")
    print(f"n = {2 * n:,}: {whole:.1f} s {describe(second)}; grows {whole / half:.2f}x (aim 4.6)")


def by_paper(X: Any, y: Any, ratio: int, seed: int) -> Iterator[Any]:
    """The paper's estimator: running means of cg over runs, classes against a sample of others."""
    rng = np.random.default_rng(seed)
    total, count = np.zeros(len(y)), 0
    while True:
        for label in np.unique(y):
            mine, others = np.flatnonzero(y == label), np.flatnonzero(y != label)
            drawn = rng.choice(others, min(ratio * len(mine), len(others)), replace=False)
            rows = np.concatenate([mine, drawn])
            signs = np.where(y[rows] == label, 1, -1)
            table = cgscore.score(X[rows], signs, method="exact", judge=False, progress=False).table
            total[mine] += table["cg"].to_numpy()[: len(mine)]
        count += 1
        yield total / count


def paper(n: int) -> None:
    X, y = sample("CIFAR-10", n)
    true = cgscore.score(X, y, method="exact", judge=False, progress=False).table["cg"].to_numpy()
    seconds, found = iterative(X, y)
    ours = rank_correlation(found.table["cg"].to_numpy(), true)
    print(f"CIFAR-10, n = {n:,}: rank correlation with the exact score against seconds")
    print(f"  iterative              {seconds:7.1f} s  {ours:.4f}")
    for ratio in (1, 2, 3, 4):
        start = time.perf_counter()
        for run, estimate in enumerate(by_paper(X, y, ratio, 0), 1):
            spent = time.perf_counter() - start
            value = rank_correlation(estimate, true)
            if run in (1, 2, 5, 10, 20) or spent > 4 * seconds:
                print(f"  paper, 1:{ratio}, {run:2} runs   {spent:7.1f} s  {value:.4f}", flush=True)
            if spent > 4 * seconds or run == 20:
                break


def whole() -> None:
    for name, file in (("CIFAR-10", "cifar10"), ("Fashion-MNIST", "fashion-mnist")):
        X, y = load(name)
        table = pq.read_table(Path("results/exact") / f"{file}.parquet")
        figures = json.loads(table.schema.metadata[b"cgscore"])
        seconds, found = iterative(X, y)
        cg, margin, top = compare(found.table, table.to_pandas())
        exact = figures["wall_seconds"]
        error = np.abs(found.d / table["d"].to_numpy() - 1)
        print(
            f"{name}, all {len(y):,}: {seconds:.0f} s against {exact:.0f} s, {seconds / exact:.2f}"
        )
        print(f"  cg {cg:.5f}, margin {margin:.5f}, top 1 % {top:.3f}; {describe(found)}")
        print(f"  d: median error {np.median(error):.4f}, 95th {np.quantile(error, 0.95):.4f}")
        print(
            f"  peak memory {peak_memory() / 1e9:.1f} GB; audit {found.meta['audit']}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["accuracy", "audit", "growth", "paper", "whole"])
    parser.add_argument("-n", type=int, help="size, instead of the usual")
    parser.add_argument("--data", choices=list(SOURCES), help="for accuracy: only these data")
    parser.add_argument("--ridge", type=float, help="for accuracy: only this ridge")
    options = parser.parse_args()
    if options.what == "accuracy":
        sizes = [options.n] if options.n else [10_000, 20_000]
        names = [options.data] if options.data else list(SOURCES)
        accuracy(sizes, names, [0.0, 0.3] if options.ridge is None else [options.ridge])
    elif options.what == "audit":
        audit(options.n or 10_000)
    elif options.what == "growth":
        growth(options.n or 20_000)
    elif options.what == "paper":
        paper(options.n or 10_000)
    else:
        whole()


if __name__ == "__main__":
    require_quiet()
    main()
