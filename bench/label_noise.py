"""Who finds wrong labels best: ours, the paper's detectors, cleanlab and nearest neighbours.

::

    python bench/label_noise.py -o results/label_noise.json                  # all data, seeds 5-9
    python bench/label_noise.py --data digits --seeds 0 1 2 3 4              # for fixing constants

Every method gets the same inputs and the same noisy labels (`noise.py`). The other packages run in
an environment of the bench's own (.peers, made if missing). Printed and written, for every data
set, noise and method, means over seeds: AUROC, average precision, precision at the true count, F1
of the decision, accuracy of the suggested label on the truly wrong ones, and seconds. Seconds of
ours are those of a factor and of what each labelling takes on top.

Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from iterative import sample
from noise import KINDS, noisy

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.kernel import unit_rows
from cgscore.scores import class_targets
from cgscore.solvers.ridge import least_error, sampled

SIZE = 8000
DETECTORS = {"CG (paper)": "cg", "partial (paper)": "partial", "sign rule (paper)": "sign"}
METRICS = ("auroc", "average_precision", "precision_at_count", "f1", "suggestion", "seconds")


def load(name: str) -> tuple[Any, Any]:
    if name == "digits":
        data = cgscore.read("sklearn:digits")
        return np.asarray(data.X, np.float64).reshape(len(data), -1), np.asarray(data.y)
    X, y = sample({"fashion": "Fashion-MNIST", "cifar": "CIFAR-10"}[name], SIZE)
    return X, y.astype(int)


def measures(wrong: Any, score: Any, flag: Any, suggestion: Any, y: Any, seconds: float) -> Any:
    """All metrics of one method on one labelling; low scores are bad."""
    from scipy.stats import rankdata

    ranks, count = rankdata(score), int(wrong.sum())
    order = np.argsort(score, kind="stable")
    hits = np.cumsum(wrong[order])
    precision = hits / np.arange(1, len(wrong) + 1)
    return {
        "auroc": 1 - (ranks[wrong].sum() - count * (count + 1) / 2) / (count * (len(y) - count)),
        "average_precision": float((precision * wrong[order]).sum() / count),
        "precision_at_count": float(precision[count - 1]),
        "f1": 2 * float((wrong & flag).sum()) / (count + int(flag.sum())),
        "suggestion": float(np.mean(suggestion[wrong] == y[wrong])),
        "seconds": seconds,
    }


def ours(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
    """Ours with the automatic ridge, and the paper's detectors with ridge 0, on every labelling."""
    some, k = sampled(len(X), 0), int(y.max()) + 1
    rows = unit_rows(X[some])
    start = time.perf_counter()
    chosen = [least_error(rows, class_targets(z[some], k)).ridge for z in Z]
    each = (time.perf_counter() - start) / len(Z)
    found: dict[str, list[Any]] = {name: [None] * len(Z) for name in ("ours", *DETECTORS)}
    for ridge in sorted({0.0, *chosen}):
        start = time.perf_counter()
        factor = cgscore.factor(X, ridge=ridge)
        made = time.perf_counter() - start
        for number, z in enumerate(Z):
            for name, by in {"ours": "posterior", **DETECTORS}.items():
                if ridge != (chosen[number] if name == "ours" else 0.0):
                    continue
                start = time.perf_counter()
                table = factor.score(z).label_issues(by=by)
                spent = made + time.perf_counter() - start + (each if name == "ours" else 0)
                found[name][number] = measures(
                    y != z,
                    table["label_score"].to_numpy(),
                    table["is_label_issue"].to_numpy(),
                    np.where(
                        table["predicted_label"] == z, table["runner_up"], table["predicted_label"]
                    ),
                    y,
                    spent,
                )
        factor.close()
    return found


def peers(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
    """The other packages, on the same labellings."""
    here = Path(__file__).parent
    python = here.parent / ".peers" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", "cleanlab[datalab]==2.9.0"]
        subprocess.run(install, check=True)
    with tempfile.TemporaryDirectory() as folder:
        given, answer = (str(Path(folder) / name) for name in ("given.npz", "answer.npz"))
        np.savez(
            given,
            X=(X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32),
            Z=np.stack(Z),
        )
        subprocess.run([str(python), str(here / "peers.py"), given, answer], check=True)
        told = np.load(answer)
        return {
            str(name): [
                measures(
                    y != z,
                    told[f"{number}-score"][i],
                    told[f"{number}-flag"][i].astype(bool),
                    told[f"{number}-suggestion"][i],
                    y,
                    float(told[f"{number}-seconds"][i]),
                )
                for i, z in enumerate(Z)
            ]
            for number, name in enumerate(told["names"])
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", default=["digits", "fashion", "cifar"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[5, 6, 7, 8, 9])
    parser.add_argument("--without-peers", action="store_true", help="ours and the paper's only")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    document: dict[str, Any] = {"version": cgscore.__version__, "seeds": asked.seeds, "cells": []}
    for name in asked.data:
        X, y = load(name)
        cases = [(kind, seed) for kind in KINDS for seed in asked.seeds]
        Z = [noisy(X, y, kind, seed) for kind, seed in cases]
        print(f"{name}, {len(y):,} examples", flush=True)
        results = ours(X, y, Z)
        if not asked.without_peers:
            results |= peers(X, y, Z)
        for kind in KINDS:
            mine = [i for i, (other, _) in enumerate(cases) if other == kind]
            print(f"\n{name}, {kind:<25} {'  '.join(metric[:9].rjust(9) for metric in METRICS)}")
            for method, values in results.items():
                means = {m: float(np.mean([values[i][m] for i in mine])) for m in METRICS}
                document["cells"].append({"data": name, "noise": kind, "method": method, **means})
                print(
                    f"  {method:<37}" + "  ".join(f"{means[m]:9.4f}" for m in METRICS), flush=True
                )
        if asked.output:
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            asked.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
