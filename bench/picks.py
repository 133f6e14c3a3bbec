"""Whether picks in blocks cost accuracy against one at a time, and what a ranking of all takes.

::

    python bench/picks.py blocks                         # 5,000 examples of Fashion-MNIST, 3 seeds
    python bench/picks.py whole --data Fashion-MNIST     # all examples, to a half: seconds, bytes
    python bench/picks.py whole --data CIFAR-10
    python bench/picks.py --show

``blocks`` measures test accuracy (all 10,000 test examples) at 5, 10 and 20 % kept. ``whole``
measures processor time, which other work on the machine changes little, beside the time on the
clock. Both write to results/picks.json.
Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import judges
import numpy as np
from iterative import load
from selection import data
from sklearn.metrics.pairwise import euclidean_distances

from cgscore.execution.machine import peak_memory
from cgscore.execution.progress import Silent
from cgscore.kernel import unit_rows
from cgscore.selection.greedy import BLOCK, rank
from cgscore.selection.selector import Selector
from cgscore.valuation import class_targets
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

RESULTS = Path(__file__).parents[1] / "results" / "picks.json"
COUNTS = (250, 500, 1000)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


def blocks(seeds: list[int]) -> None:
    """Test accuracy of picks in blocks and of one at a time."""
    found: dict[tuple[str, int, int], list[float]] = {}
    for seed in seeds:
        X, y, X_test, y_test = data("Fashion-MNIST", 5000, seed)
        selector = Selector(unit_rows(X), class_targets(y, 10), y)
        features = selector.features(Silent())
        near = euclidean_distances(X_test, X, squared=True)
        gamma = 1 / float(np.median(near[::50]))
        near = np.exp(-gamma * near)
        for block in (BLOCK, 1):
            order = rank(
                features,
                selector.Y,
                ridge=selector.ridge,
                block=block,
                enough=lambda taken: len(taken) >= COUNTS[-1],
            ).order
            for count in COUNTS:
                kept = order[:count]
                K = np.exp(-gamma * euclidean_distances(X[kept], squared=True))
                for judge, predicted in (
                    ("linear", judges.linear(X[kept], y[kept], X_test, 10)),
                    ("kernel", judges.kernel(K, y[kept], near[:, kept], 10)),
                    ("neighbours", judges.neighbours(y, kept, near, 10)),
                ):
                    accuracy = float(np.mean(predicted == y_test))
                    found.setdefault((judge, count, block), []).append(accuracy)
    cells = [
        {"judge": judge, "kept": count, "blocks": accuracies, "one": found[judge, count, 1]}
        for (judge, count, block), accuracies in found.items()
        if block != 1
    ]
    record = {**script_origin(__file__), "seeds": seeds, "size": BLOCK, "cells": cells}
    store({"blocks": record})


def store(parts: dict[str, Any]) -> None:
    """Print some parts of the document, and write them in place of older ones."""
    document = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(document | parts, indent=1) + "\n")
    show(parts)


def whole(name: str, share: float, landmarks: int | None) -> None:
    X, y = load(name)
    codes = np.asarray(y).astype(int)
    start, processor = time.perf_counter(), time.process_time()
    selector = Selector(unit_rows(X), class_targets(codes, 10), codes, landmarks=landmarks)
    del X
    marks = [mark for mark in SHARES if mark <= share]
    n = len(codes)
    found: dict[str, Any] = {**script_origin(__file__), "n": n, "marks": []}
    found["landmarks"] = selector.landmarks

    def report(share: float) -> None:
        found["marks"].append(
            {
                "share": share,
                "processor_seconds": time.process_time() - processor,
                "seconds": time.perf_counter() - start,
                "peak_bytes": peak_memory(),
            }
        )

    def enough(order: Any) -> bool:
        while marks and len(order) >= marks[0] * n:
            report(marks.pop(0))
        return len(order) >= share * n

    selector.features(Silent())
    report(0.0)
    ranking = selector.ranking(np.arange(n), Silent(), enough=enough)
    found["useful"] = ranking.useful if ranking.useful < len(ranking.order) else None
    found["flops"] = selector.cost(len(ranking.order)).flops
    store({name: found})


def show_blocks(record: dict[str, Any]) -> None:
    differences = []
    for cell in record["cells"]:
        many, one = np.array(cell["blocks"]), np.array(cell["one"])
        differences.append(many - one)
        error = (many - one).std(ddof=1) / np.sqrt(len(one)) if len(one) > 1 else np.nan
        print(
            f"{cell['judge']:<11} {cell['kept']:>5} kept: blocks of up to {record['size']} "
            f"{many.mean():.4f}, one at a time {one.mean():.4f}, difference "
            f"{(many - one).mean():+.4f} (standard error {error:.4f})"
        )
    print(f"mean difference {np.mean(differences):+.4f}")


def show(document: dict[str, Any]) -> None:
    for name, found in document.items():
        if name == "blocks":
            show_blocks(found)
            continue
        print(f"{name}, {found['n']:,} examples, features of rank {found['landmarks']:,}")
        for mark in found["marks"]:
            processor, seconds = mark["processor_seconds"], mark["seconds"]
            print(
                f"  {mark['share']:>4.0%} ranked: {processor:.0f} s of processor time, "
                f"{seconds:.0f} s on the clock, peak {mark['peak_bytes'] / 1e9:.2f} GB"
            )
        end, ranked = found["useful"], found["marks"][-1]["share"] * found["n"]
        gains = "are positive throughout" if end is None or end >= ranked else f"end after {end:,}"
        print(f"  gains {gains}; {found['flops']:.2g} flops")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("part", nargs="?", choices=("blocks", "whole"))
    parser.add_argument("--show", action="store_true", help="print what was measured and stop")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--data", default="Fashion-MNIST", choices=("Fashion-MNIST", "CIFAR-10"))
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--landmarks", type=int)
    options = parser.parse_args()
    if options.show:
        show(json.loads(RESULTS.read_text()))
    elif options.part == "blocks":
        blocks(options.seeds)
    elif options.part == "whole":
        require_quiet()
        whole(options.data, options.share, options.landmarks)
    else:
        parser.error("a part, or --show, is needed")


if __name__ == "__main__":
    main()
