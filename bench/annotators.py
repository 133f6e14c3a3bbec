"""Who delivered the wrong labels: simulated annotators of known quality, and one real one.

::

    python bench/annotators.py -o results/annotators.json --features cifar10-features.npz
    python bench/annotators.py --parts sources annotators --data digits --seeds 0 1
    python bench/annotators.py --show results/annotators.json

It needs ``cleanlab==2.9.0``, and Fashion-MNIST and CIFAR-10N under ``CGSCORE_DATA``. The file of
features is what ``cgscore features cifar10/train.parquet --encoder efficientnet-lite0`` writes for
the first examples of CIFAR-10; without it that part is left out.

``sources``: every example has one label, by one of 20 sources. Four sources gave five labels each.
Of the others every fourth confuses two classes (80 % of these are swapped), the rest are wrong in
1, 5, 10, 30 or 50 % of the labels, to any other class. ``annotators``: 15 of them, of whom three
gave five labels each and the rest 10 to 50 % of all; right in 95, 90, 70, 50 or 35 %, every fourth
confuses two classes. Quality is the probability of a wrong (right) label, for those who confuse
classes its mean over the examples they labelled. cleanlab's consensus gets the same labels with
out-of-fold probabilities of logistic regression (5 folds, fitted to the majority vote), and with
ours.

``real``: CIFAR-10N's annotator for one random half, the clean labels for the other.
``groups``: the gap of every group against scoring without it, and its cost.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import cgscore

DATA = Path(os.environ.get("CGSCORE_DATA", "data"))
FASHION_EXAMPLES = 3000
REAL_EXAMPLES = 4000
GROUP_EXAMPLES = 6000
FEW = 5  # labels of the sources and annotators with few


def digits(seed: int) -> tuple[Any, Any]:
    """The digits of scikit-learn, all of them."""
    dataset = cgscore.read("sklearn:digits")
    return np.asarray(dataset.X, np.float64).reshape(len(dataset), -1), np.asarray(dataset.y)


def fashion(seed: int, count: int = FASHION_EXAMPLES) -> tuple[Any, Any]:
    """A sample of Fashion-MNIST."""
    dataset = cgscore.read(DATA / "fashion-mnist")
    rows = np.random.default_rng(seed).choice(len(dataset), count, replace=False)
    X = np.asarray(dataset.X[rows], np.float64).reshape(count, -1)
    return X, np.asarray(dataset.y)[rows].astype(np.int64)


SETS: dict[str, Callable[[int], tuple[Any, Any]]] = {"digits": digits, "fashion-mnist": fashion}


def labelled(y: Any, rate: float, confused: bool, rng: Any) -> tuple[Any, float]:
    """Labels that somebody gives to examples of the classes y, and how likely each is wrong."""
    k, labels = int(y.max()) + 1 if len(y) else 10, y.copy()
    k = max(k, 10)
    if confused:
        first, second = rng.choice(k, 2, replace=False)
        chance = np.where(np.isin(y, [first, second]), 0.8, 0.0)
        wrong = rng.random(len(y)) < chance
        labels[wrong] = np.where(y[wrong] == first, second, first)
        return labels, float(chance.mean())
    wrong = rng.random(len(y)) < rate
    labels[wrong] = (y[wrong] + rng.integers(1, k, wrong.sum())) % k
    return labels, rate


def sources(name: str, seed: int) -> dict[str, Any]:
    """Estimated against true rates of sources."""
    X, y = SETS[name](seed)
    rng = np.random.default_rng([seed, 1])
    m = 20
    weights = rng.integers(30, 200, m - 4)
    source = 4 + rng.choice(m - 4, len(y), p=weights / weights.sum())
    source[rng.choice(len(y), 4 * FEW, replace=False)] = np.repeat(np.arange(4), FEW)
    labels, truth = y.copy(), np.empty(m)
    for s in range(m):
        rows = np.flatnonzero(source == s)
        rate = rng.choice([0.01, 0.05, 0.1, 0.3, 0.5])
        labels[rows], truth[s] = labelled(y[rows], rate, s >= 4 and s % 4 == 3, rng)
    table = cgscore.score(X, labels, ridge="auto", source_column=source).sources()
    actual = truth[table["source"].to_numpy(int)]
    many = (table["examples"] > FEW).to_numpy()
    inside = ((table["low"] <= actual) & (actual <= table["high"])).to_numpy()
    more = (table["differs"] == "more").to_numpy()
    return {
        "part": "sources", "data": name, "seed": seed, "sources": m,
        "rank_correlation": spearmanr(table["rate"], actual)[0],
        "rank_correlation_many": spearmanr(table["rate"][many], actual[many])[0],
        "coverage": inside.mean(), "coverage_few": inside[~many].mean(),
        "named_worse": int(more.sum()),
        "named_worse_below_average": int((more & (actual < (labels != y).mean())).sum()),
    }  # fmt: skip


def annotators(name: str, seed: int) -> dict[str, Any]:
    """Consensus and reliability from labels of several annotators."""
    import pandas as pd

    X, y = SETS[name](seed)
    rng = np.random.default_rng([seed, 2])
    n, m = len(y), 15
    L, truth = np.full((n, m), -1), np.empty(m)
    for a in range(m):
        count = FEW if a < 3 else int(rng.uniform(0.1, 0.5) * n / 2)
        rows = rng.choice(n, count, replace=False)
        right = rng.choice([0.95, 0.9, 0.7, 0.5, 0.35])
        L[rows, a], wrong = labelled(y[rows], 1 - right, a % 4 == 3, rng)
        truth[a] = 1 - wrong
    some = (L >= 0).any(axis=1)
    X, y, L = X[some], y[some], L[some]
    names = [f"annotator-{a}" for a in range(m)]
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    for a, column in enumerate(names):
        frame[column] = np.where(L[:, a] >= 0, L[:, a], np.nan)
    scores = cgscore.score(frame, annotator_columns=names, ridge="auto", preprocess="none")
    table = scores.annotators()
    order = [names.index(who) for who in table["annotator"]]
    actual, many = truth[order], (table["examples"] > FEW).to_numpy()
    inside = ((table["low"] <= actual) & (actual <= table["high"])).to_numpy()
    majority = np.asarray(scores.data().y)
    return {
        "part": "annotators", "data": name, "seed": seed, "examples": len(y),
        "labels_per_example": float((L >= 0).sum() / len(y)),
        "majority": float((majority == y).mean()),
        "ours": float((scores.table["given_label"].to_numpy() == y).mean()),
        **{key: float((labels == y).mean()) for key, labels in peers(X, L, majority).items()},
        "rank_correlation": spearmanr(table["reliability"], actual)[0],
        "rank_correlation_many": spearmanr(table["reliability"][many], actual[many])[0],
        "coverage": inside.mean(), "coverage_few": inside[~many].mean(),
    }  # fmt: skip


def peers(X: Any, L: Any, majority: Any) -> dict[str, Any]:
    """Consensus of cleanlab, with two kinds of class probabilities."""
    import pandas as pd
    from cleanlab.multiannotator import get_label_quality_multiannotator
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from cgscore.issues.noise_model import estimate_noise

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200))
    by_regression = cross_val_predict(model, X, majority, cv=5, method="predict_proba")
    loo = cgscore.score(X, majority, ridge="auto", task="classification").loo
    ours = estimate_noise(loo, majority).calibration.probabilities(loo)
    given = pd.DataFrame(np.where(L >= 0, L, np.nan)).astype("Int64")
    return {
        key: get_label_quality_multiannotator(given, q, verbose=False)["label_quality"][
            "consensus_label"
        ].to_numpy()
        for key, q in (("cleanlab_logistic", by_regression), ("cleanlab_ours", ours))
    }


def real(features: Path, seed: int) -> dict[str, Any]:
    """Which half has the labels of CIFAR-10N's annotator."""
    with np.load(features) as file:
        X = np.asarray(file["X"], np.float64)
    with np.load(DATA / "cifar10n" / "human_labels.npz") as file:
        human, clean = file["label"][: len(X)], file["clean"][: len(X)]
    rng = np.random.default_rng([seed, 3])
    rows = rng.choice(len(X), min(REAL_EXAMPLES, len(X)), replace=False)
    half = rng.permutation(len(rows)) < len(rows) // 2
    labels = np.where(half, human[rows], clean[rows]).astype(int)
    source = np.where(half, "annotator", "clean")
    table = cgscore.score(X[rows], labels, ridge="auto", source_column=source).sources()
    by = table.set_index("source")
    return {
        "part": "real", "data": "cifar10n", "seed": seed, "examples": len(rows),
        "worst": table["source"][0], "differs": by["differs"].to_dict(),
        "p_value": float(by["p_value"]["annotator"]), "rate": by["rate"].to_dict(),
        "low": by["low"].to_dict(), "high": by["high"].to_dict(),
        "true_rate": {"annotator": float((labels != clean[rows])[half].mean()), "clean": 0.0},
    }  # fmt: skip


def groups(seed: int) -> list[dict[str, Any]]:
    """Gaps of groups against scoring without them, and their cost."""
    X, y = digits(seed)
    rows = np.random.default_rng([seed, 4]).choice(len(y), 300, replace=False)
    X, y, group = X[rows], y[rows], np.arange(300) % 12
    scores = cgscore.score(X, y, method="exact", group_column=group, judge=False)
    table, whole = scores.groups().set_index("group"), cgscore.complexity(X, y)
    errors = []
    for number in range(12):
        stay = group != number
        rest = cgscore.complexity(X[stay], y[stay])
        gap = {label: whole[label] - rest[label] for label in whole}
        found = {label: table[f"gap_{label}"][number] for label in whole}
        errors += [abs(found[label] - gap[label]) / whole[label] for label in whole]
    cells = [{"part": "groups", "n": 300, "groups": 12, "largest_error": max(errors)}]
    X, y = fashion(seed, GROUP_EXAMPLES)
    start = time.perf_counter()
    factor = cgscore.factor(X)
    factorised = time.perf_counter() - start
    for m in (10, 60):
        group = np.random.default_rng(seed).integers(0, m, len(y))
        start = time.perf_counter()
        factor.group_gaps(group, y)
        seconds = time.perf_counter() - start
        n = len(y)
        cells.append(
            {
                "part": "groups",
                "n": n,
                "groups": m,
                "seconds": seconds,
                "factor_seconds": factorised,
                "flops": n**3 + 2 * n**3 / m,
                "flops_60000": 60_000**3 + 2 * 60_000**3 / m,
            }
        )
    return cells


def show(cells: list[dict[str, Any]]) -> None:
    """Print every cell, and the means over seeds."""
    for part in dict.fromkeys(cell["part"] for cell in cells):
        for data in dict.fromkeys(c.get("data") for c in cells if c["part"] == part):
            chosen = [c for c in cells if c["part"] == part and c.get("data") == data]
            print(f"\n{part} {data or ''}: {len(chosen)} runs")
            for key in dict.fromkeys(key for c in chosen for key in c):
                values: list[Any] = [c.get(key) for c in chosen]
                if key in ("part", "data", "seed"):
                    continue
                if part in ("sources", "annotators"):
                    print(f"  {key:28} {np.mean(values):.3f}  {np.round(values, 3).tolist()}")
                else:
                    print(f"  {key:28} {values}")


def plain(value: Any) -> Any:
    """Numbers of numpy as those of Python."""
    return value.item() if hasattr(value, "item") else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    every = ["sources", "annotators", "real", "groups"]
    parser.add_argument("--parts", nargs="+", default=every, choices=every)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[10, 11, 12, 13])
    parser.add_argument("--features", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.show:
        return show(json.loads(arguments.show.read_text())["cells"])
    warnings.simplefilter("ignore")
    head = ["git", "rev-parse", "HEAD"]
    result: dict[str, Any] = {
        "command": " ".join(["python", "bench/annotators.py", *sys.argv[1:]]),
        "commit": subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, shared with other work",
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }
    cells: list[dict[str, Any]] = []
    jobs: list[Callable[[], Any]] = []
    for name in arguments.data:
        for part in ("sources", "annotators"):
            if part in arguments.parts:
                function = {"sources": sources, "annotators": annotators}[part]
                jobs += [partial(function, name, seed) for seed in arguments.seeds]
    if "real" in arguments.parts and arguments.features is not None:
        jobs += [partial(real, arguments.features, seed) for seed in arguments.seeds]
    if "groups" in arguments.parts:
        jobs.append(partial(groups, arguments.seeds[0]))
    for job in jobs:
        cell = job()
        cells += cell if isinstance(cell, list) else [cell]
        print(json.dumps(cells[-1], default=plain), file=sys.stderr)
        if arguments.output:  # after every one
            content = json.dumps({**result, "cells": cells}, indent=1, default=plain)
            arguments.output.write_text(content + "\n")
    show(cells)


if __name__ == "__main__":
    main()
