"""Landmarks with an exact diagonal: quality, time and memory against the number of landmarks.

::

    python bench/lowrank.py quality             # against exact, n = 20,000, and rules for landmarks
    python bench/lowrank.py whole               # all of four data sets, against iterative
    python bench/lowrank.py growth              # 160,000 and 320,000 examples
    python bench/lowrank.py classes             # 200,000 examples of 5,000 classes
    python bench/lowrank.py sizes               # every method against exact, 1,000 to 20,000

Labels of 20 % of the examples are replaced by another class at random. Compared
are margins: rank correlation with those of the other method, and the area under the curve (AUROC)
with which they find the replaced labels. Every part is written to its section of
results/lowrank.json with its command. Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from iterative import DATA, load, sample

import cgscore
from cgscore.execution.executor import Local
from cgscore.execution.machine import peak_memory
from cgscore.execution.progress import Silent
from cgscore.rows import streamed_rows
from cgscore.solvers.iterative.audit import rank_correlation
from cgscore.solvers.lowrank.landmarks import RULES, landmarks_of
from cgscore.solvers.lowrank.model import Targets
from cgscore.solvers.lowrank.solve import solve
from cgscore.valuation import margin
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

RESULTS = Path(__file__).parents[1] / "results" / "lowrank.json"
NAMES = ("Fashion-MNIST", "CIFAR-10")
ENCODED = {"CIFAR-10 features": "cifar10", "CIFAR-100 features": "cifar100"}
COUNTS = (500, 1000, 2000, 4000, 8000)
SIZES = (1000, 4000, 10_000, 20_000)
SHARED = "--shared" in sys.argv  # then seconds say little


def replaced(codes: Any, k: int, share: float, seed: int = 0) -> tuple[Any, Any]:
    """Labels of which a share is another class at random, and which they are."""
    rng = np.random.default_rng(seed)
    wrong = np.zeros(len(codes), bool)
    wrong[rng.choice(len(codes), round(share * len(codes)), replace=False)] = True
    codes = codes.astype(np.intp)
    codes[wrong] = (codes[wrong] + rng.integers(1, k, int(wrong.sum()))) % k
    return codes, wrong


def auroc(values: Any, wrong: Any) -> float:
    """Share of pairs of a wrong and a right label in which the wrong one has the lower value."""
    ranks = pd.Series(-np.asarray(values)).rank().to_numpy()
    a, b = int(wrong.sum()), int((~wrong).sum())
    return float((ranks[wrong].sum() - a * (a + 1) / 2) / (a * b))


def precision_of_worst(values: Any, wrong: Any) -> float:
    """Share of wrong labels among as many of the lowest values as labels are wrong."""
    return float(wrong[np.argsort(values)[: int(wrong.sum())]].mean())


def inputs(name: str) -> tuple[Any, Any]:
    """All pixels, or features of efficientnet-lite0, and labels."""
    if name not in ENCODED:
        return load(name)
    read = cgscore.read(DATA / ENCODED[name] / "train.parquet", encoder="efficientnet-lite0")
    return np.asarray(read.X), np.asarray(read.y)


def write(section: str, content: Any) -> None:
    """Put a section into the file of results."""
    document = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    origin = {"version": cgscore.__version__, **script_origin(__file__)}
    document[section] = {**origin, "alone_on_the_machine": not SHARED, **content}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")


def earlier(section: str) -> dict[str, Any]:
    """What an earlier run found for other data."""
    document = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    data: dict[str, Any] = document.get(section, {}).get("data", {})
    return data


def quality(options: argparse.Namespace) -> None:
    """Against exact margins; seconds are those of landmarks and both passes, without an audit."""
    content: dict[str, Any] = {"share_replaced": 0.2, "data": earlier("quality")}
    for name in options.names:
        X, y = sample(name, options.rows)
        codes, wrong = replaced(y, 10, 0.2)
        start = time.perf_counter()
        exact = cgscore.score(X, codes, method="exact", ridge="auto", progress=False)
        seconds = time.perf_counter() - start
        true, ridge = exact.table["margin"].to_numpy(), exact.meta["ridge"]
        record = {"ridge": ridge, "exact": {"seconds": seconds, "auroc": auroc(true, wrong)}}
        print(name, record, flush=True)
        rows, found = streamed_rows(X), []
        for m in COUNTS:
            for rule in RULES if m in (1000, 2000) else RULES[:1]:
                start = time.perf_counter()
                landmarks = landmarks_of(rows, m, ridge, seed=0, rule=rule)
                chosen = time.perf_counter() - start
                values = solve(
                    rows, landmarks, Targets(codes, 10), executor=Local(), progress=Silent()
                ).valuation
                estimate = margin(values.loo, codes)
                found.append(
                    {
                        "landmarks": len(landmarks),
                        "rule": rule,
                        "margin": rank_correlation(estimate, true),
                        "cg": rank_correlation(values.cg, exact.table["cg"].to_numpy()),
                        "auroc": auroc(estimate, wrong),
                        "seconds_landmarks": chosen,
                        "seconds": time.perf_counter() - start,
                    }
                )
                print(found[-1], flush=True)
        content["data"][name] = {"n": len(X), **record, "lowrank": found}
        write("quality", content)


def one(options: argparse.Namespace) -> None:
    """One run in a process of its own: margins to a file, figures to standard output."""
    name = options.names[0]
    X, y = inputs(name) if options.sample is None else sample(name, options.sample)
    codes, wrong = replaced(y, int(y.max()) + 1, 0.2)
    start = time.perf_counter()
    scores = cgscore.score(
        X,
        codes,
        method=options.method,
        ridge=options.ridge or "auto",
        landmarks=options.landmarks,
        progress=False,
    )
    seconds = time.perf_counter() - start
    values = scores.table["margin"].to_numpy()
    np.save(options.folder / "margin.npy", values)
    audit = scores.meta["audit"]
    names = ("rank_correlation", "rank_correlation_margin")
    print(
        json.dumps(
            {
                "method": options.method,
                "landmarks": scores.meta.get("landmarks"),
                "ridge": scores.meta["ridge"],
                "seconds": seconds,
                "timings": scores.meta["timings"],
                "peak_bytes": peak_memory(),
                "auroc": auroc(values, wrong),
                "precision_of_worst": precision_of_worst(values, wrong),
                "audit": None
                if audit is None
                else {key: audit[key] for name in names for key in (name, f"{name}_interval")},
                "audit_left_out": scores.meta.get("audit_left_out"),
            }
        )
    )


def whole(options: argparse.Namespace) -> None:
    """All examples: the iterative method, audited, and landmarks with the same ridge."""
    content: dict[str, Any] = {"share_replaced": 0.2, "data": earlier("whole")}
    for name in options.names:
        with tempfile.TemporaryDirectory() as folder:
            iterative = _process(name, folder, "--method", "iterative")
            true = np.load(Path(folder) / "margin.npy")
            found = []
            for m in (2000, 4000):
                figures = _process(
                    name, folder, "--landmarks", str(m), "--ridge", str(iterative["ridge"])
                )
                estimate = np.load(Path(folder) / "margin.npy")
                found.append({**figures, "margin": rank_correlation(estimate, true)})
                print(found[-1], flush=True)
            found.append({**_process(name, folder), "ridge_of": "this model"})
            found[-1]["margin"] = rank_correlation(np.load(Path(folder) / "margin.npy"), true)
        content["data"][name] = {"n": len(true), "iterative": iterative, "lowrank": found}
        write("whole", content)


def _process(name: str, folder: str, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "one", "--names", name, "--folder", folder, *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    print(figures, flush=True)
    return figures


def clusters(n: int, p: int, k: int, seed: int) -> tuple[Any, Any]:
    """Centres of k classes and the class of every row, from a seed."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((k, p)).astype(np.float32)
    codes = rng.integers(0, k, n)
    return centres, codes


def fill(X: Any, centres: Any, codes: Any, seed: int, spread: float) -> None:
    """Rows of X: their centre plus noise, part by part, each from a seed of its own."""
    for start in range(0, len(X), 16384):
        part = slice(start, min(start + 16384, len(X)))
        noise = np.random.default_rng([seed, start]).standard_normal(X[part].shape, np.float32)
        X[part] = centres[codes[part]] + spread * noise


def sizes(options: argparse.Namespace) -> None:
    """Every method with the same ridge, against exact margins, on samples of some sizes."""
    name, found = options.names[0], []
    for n in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            figures = _process(name, folder, "--sample", str(n), "--method", "exact")
            true, ridge = np.load(Path(folder) / "margin.npy"), str(figures["ridge"])
            found.append({"n": n, **figures, "margin": 1.0})
            for method in ("iterative", "partition", "lowrank"):
                figures = _process(
                    name, folder, "--sample", str(n), "--method", method, "--ridge", ridge
                )
                estimate = np.load(Path(folder) / "margin.npy")
                found.append({"n": n, **figures, "margin": rank_correlation(estimate, true)})
    write("sizes", {"share_replaced": 0.2, "data": name, "runs": found})


def growth(options: argparse.Namespace) -> None:
    """Time against n."""
    found = []
    for n in (160_000, 320_000):
        centres, codes = clusters(n, options.columns, 10, 0)
        X = np.empty((n, options.columns), np.float32)
        fill(X, centres, codes, 0, 6.0)
        codes, wrong = replaced(codes, 10, 0.1)
        start = time.perf_counter()
        scores = cgscore.score(
            X,
            codes,
            method="lowrank",
            ridge=0.1,
            landmarks=options.landmarks or 1000,
            progress=False,
        )
        seconds = time.perf_counter() - start
        values = scores.table["margin"].to_numpy()
        found.append({"n": n, "seconds": seconds, "timings": scores.meta["timings"]})
        found[-1] |= {
            "auroc": auroc(values, wrong),
            "audit_left_out": scores.meta["audit_left_out"],
        }
        print(found[-1], flush=True)
    ratio = found[1]["seconds"] / found[0]["seconds"]
    print(f"ratio {ratio:.2f}")
    shape = {"p": options.columns, "landmarks": options.landmarks or 1000}
    write("growth", {**shape, "runs": found, "ratio": ratio})


def classes(options: argparse.Namespace) -> None:
    """Very many classes: memory, and whether labels are judged."""
    n, k = 200_000, 5000
    centres, codes = clusters(n, options.columns, k, 0)
    X = np.empty((n, options.columns), np.float32)
    fill(X, centres, codes, 0, 1.0)
    codes, wrong = replaced(codes, k, 0.1)
    start = time.perf_counter()
    scores = cgscore.score(
        X,
        codes,
        method="lowrank",
        ridge="auto",
        landmarks=options.landmarks or 1000,
        progress=False,
    )
    scored = time.perf_counter() - start
    summary, issues = scores.issue_summary(), scores.label_issues()
    flagged = issues["is_label_issue"].to_numpy()
    found = {
        "n": n,
        "p": options.columns,
        "classes": k,
        "landmarks": scores.meta["landmarks"],
        "ridge": scores.meta["ridge"],
        "seconds": scored,
        "timings": scores.meta["timings"],
        "peak_bytes": peak_memory(),
        "accuracy": scores.accuracy(),
        "auroc": auroc(scores.table["margin"].to_numpy(), wrong),
        "wrong": int(wrong.sum()),
        "estimated_wrong": summary.estimated_wrong,
        "flagged": int(flagged.sum()),
        "precision": float(wrong[flagged].mean()),
        "recall": float(flagged[wrong].mean()),
    }
    print(found)
    write("classes", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=("quality", "whole", "sizes", "growth", "classes", "one"))
    parser.add_argument("--names", nargs="+", default=NAMES, choices=[*NAMES, *ENCODED])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=256)
    parser.add_argument("--method", default="lowrank")
    parser.add_argument("--landmarks", type=int)
    parser.add_argument("--ridge", type=float)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sample", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--shared", action="store_true", help="other work runs here, too")
    options = parser.parse_args()
    if options.part != "one" and not SHARED:
        require_quiet()
    globals()[options.part](options)


if __name__ == "__main__":
    main()
