"""The iterative method against the exact one: accuracy, time, honesty of the audit, growth.

::

    python bench/iterative.py accuracy     # n = 10,000 and 20,000, clean and noisy, two ridges
    python bench/iterative.py audit        # ten seeds at n = 10,000
    python bench/iterative.py growth       # n = 20,000 and 40,000
    python bench/iterative.py paper        # the paper's estimator at equal time
    python bench/iterative.py whole        # all of two data sets against results/exact/
    python bench/iterative.py --show

Data are found in CGSCORE_DATA, by default ../shared/data. The time of the exact solver and of the
iterative method are taken in the same run, one after the other. Lines are written to their section
of results/iterative.json with the command.
"""

from __future__ import annotations

import argparse
import itertools
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
from cgscore_paper.provenance import script_origin

RESULTS = Path(__file__).parents[1] / "results" / "iterative.json"
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


def write(section: str, records: list[dict[str, Any]]) -> None:
    """Print records, and put them into the file of results in the place of earlier ones."""
    for record in records:
        print_record(section, record)
    document = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    origin = script_origin(__file__)
    new = [{**record, "origin": origin} for record in records]
    names = {key(record) for record in records}
    old = [record for record in document.get(section, []) if key(record) not in names]
    document[section] = sorted([*old, *new], key=key)
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")


def key(record: dict[str, Any]) -> tuple[Any, ...]:
    """What a record is about."""
    return tuple(record.get(name, "") for name in ("data", "n", "ridge", "labels", "what"))


def print_record(section: str, record: dict[str, Any]) -> None:
    """One line or a few."""
    if section == "audit":
        print(
            f"{record['data']}, n = {record['n']:,}: the interval of the audit holds the truth "
            f"{record['inside']} times of {record['seeds']}; widest {record['widest']:.4f}"
        )
        return
    if section == "growth":
        print(f"n = {record['n']:,}: {record['seconds']:.1f} s {describe(record)}")
        return
    if section == "paper":
        print(
            f"n = {record['n']:,}, {record['what']}: {record['seconds']:.1f} s, {record['cg']:.4f}"
        )
        return
    print(
        f"{record['data']:14} {record['n']:6,} ridge {record['ridge']:<4} {record['labels']:6} | "
        f"cg {record['cg']:.5f} margin {record['margin']:.5f} top 1 % {record['top']:.3f} | "
        f"{record['seconds']:6.1f} of {record['exact_seconds']:6.1f} s: "
        f"{record['seconds'] / record['exact_seconds']:.2f} {describe(record)}"
    )
    if section == "whole":
        low, high = record["audit"]["rank_correlation_interval"]
        print(
            f"  d: median error {record['median_error']:.4f}, 95th {record['high_error']:.4f}; "
            f"peak memory {record['peak_bytes'] / 1e9:.1f} GB; audit {low:.5f} to {high:.5f}"
        )


def describe(record: dict[str, Any]) -> str:
    """Seconds of the phases, and the number of iterations."""
    times = ", ".join(f"{name} {value:.1f}" for name, value in record["timings"].items())
    return f"({times}; iterations {record['iterations']})"


def run_figures(seconds: float, scores: Any) -> dict[str, Any]:
    """What one run of the iterative method took."""
    return {
        "seconds": seconds,
        "timings": scores.meta["timings"],
        "iterations": scores.meta["iterations"],
    }


def accuracy(sizes: list[int], names: list[str], ridges: list[float]) -> None:
    for n, name in itertools.product(sizes, names):
        X, clean = sample(name, n)
        labels = {"clean": clean, "20 %": flipped(clean, 0.2)}
        for ridge in ridges:
            start = time.perf_counter()
            factor = cgscore.factor(X, ridge=ridge, progress=False)
            once = time.perf_counter() - start
            records = []
            for kind, y in labels.items():
                start = time.perf_counter()
                true = factor.score(y)
                exact = once + time.perf_counter() - start
                seconds, found = iterative(X, y, ridge)
                cg, margin, top = compare(found.table, true.table)
                record = {"data": name, "n": n, "ridge": ridge, "labels": kind}
                record |= {"cg": cg, "margin": margin, "top": top, "exact_seconds": exact}
                records.append(record | run_figures(seconds, found))
            write("accuracy", records)
            del factor


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
        record = {"data": name, "n": n, "inside": inside, "seeds": 10, "widest": max(widths)}
        write("audit", [record])


def growth(n: int) -> None:
    X, y = sample("Fashion-MNIST", 2 * n)
    half, first = iterative(X[:n], y[:n])
    whole, second = iterative(X, y)
    runs = {n: run_figures(half, first), 2 * n: run_figures(whole, second)}
    write("growth", [{"n": size, **figures} for size, figures in runs.items()])
    print(f"grows {whole / half:.2f}x")


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
    records = [{"n": n, "what": "iterative", "seconds": seconds, "cg": ours}]
    for ratio in (1, 2, 3, 4):
        start = time.perf_counter()
        for run, estimate in enumerate(by_paper(X, y, ratio, 0), 1):
            spent = time.perf_counter() - start
            value = rank_correlation(estimate, true)
            if run in (1, 2, 5, 10, 20) or spent > 4 * seconds:
                what = f"paper, 1:{ratio}, {run:2} runs"
                records.append({"n": n, "what": what, "seconds": spent, "cg": value})
            if spent > 4 * seconds or run == 20:
                break
    write("paper", records)


def whole() -> None:
    for name, file in (("CIFAR-10", "cifar10"), ("Fashion-MNIST", "fashion-mnist")):
        X, y = load(name)
        table = pq.read_table(Path("results/exact") / f"{file}.parquet")
        figures = json.loads(table.schema.metadata[b"cgscore"])
        seconds, found = iterative(X, y)
        cg, margin, top = compare(found.table, table.to_pandas())
        error = np.abs(found.d / table["d"].to_numpy() - 1)
        record = {"data": name, "n": len(y), "ridge": 0.0, "labels": "clean"}
        record |= {"cg": cg, "margin": margin, "top": top, "exact_seconds": figures["wall_seconds"]}
        record |= {
            "median_error": float(np.median(error)),
            "high_error": float(np.quantile(error, 0.95)),
            "peak_bytes": peak_memory(),
            "audit": found.meta["audit"],
        }
        write("whole", [record | run_figures(seconds, found)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "what", nargs="?", choices=["accuracy", "audit", "growth", "paper", "whole"]
    )
    parser.add_argument("--show", action="store_true", help="print what was measured and stop")
    parser.add_argument("-n", type=int, help="size, instead of the usual")
    parser.add_argument("--data", choices=list(SOURCES), help="for accuracy: only these data")
    parser.add_argument("--ridge", type=float, help="for accuracy: only this ridge")
    options = parser.parse_args()
    if options.show or options.what is None:
        for section, records in json.loads(RESULTS.read_text()).items():
            for record in records:
                print_record(section, record)
        return
    require_quiet()
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
    main()
