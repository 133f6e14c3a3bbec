"""Who finds wrong labels best: ours, the paper's detectors, cleanlab, SimiFeat, neighbours.

::

    python bench/label_noise.py -o results/label_noise.json           # all data, seeds 5-9
    python bench/label_noise.py --data digits --seeds 0 1 2 3 4       # for fixing constants
    python bench/label_noise.py --show results/label_noise.json       # the tables again
    python bench/label_noise.py --show results/label_noise.json --markdown --plot P.svg
    python bench/label_noise.py --show results/label_noise.json --estimates   # how many, promises
    python bench/label_noise.py --show results/label_noise.json --reliability R.svg
    python bench/label_noise.py --show results/label_noise.json --bins   # reliability as a table

Every method gets the same inputs and the same labels (`label_data.py`, `noise.py`). The other
packages run in an environment of the bench's own (.peers, made if missing). Printed and written,
for every data set, noise and method, means over seeds: AUROC, average precision, precision at the
true count, F1 of the decision, accuracy of the suggested label on the truly wrong ones, the share
of these that is flagged and gets its true label (``corrected``), and seconds. Seconds of ours are
those of a factor and of what each labelling takes on top; ``--without-times`` leaves them out, for
a machine that has other work. ``fashion-whole`` is all 60,000 examples, two noises, the first seed,
scored by three methods; ``--solvers`` does so with other data. Every cell has its command, commit,
sources, machine and date.

The suggested label is for all methods the best class other than the given one. The paper's CG and
partial score only rank: they flag as many labels as our estimate says. For ours every labelling
also has the measures of `verdict_measures.py`: F1 of the best threshold, of the rule of version 0.1
(`earlier_rule.py`) and of one noise matrix everywhere, reliability, the estimated count and its
interval, what ``precision=0.9`` flags. What is not run again keeps its place in the output file.
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
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from label_data import KINDS, ORDER, SEEDLESS, labelled, load
from label_tables import bins, estimates, markdown, plot, reliability_plot, show
from verdict_measures import verdict_measures

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.kernel import unit_rows
from cgscore.solvers.ridge_search import least_error, ridge_sample
from cgscore.valuation import class_targets
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

DETECTORS = {"CG (paper)": "cg", "partial (paper)": "partial", "sign rule (paper)": "sign"}
METRICS = (
    *("auroc", "average_precision", "precision_at_count", "f1"),
    *("suggestion", "corrected", "seconds"),
)
TABLES = ("iris", "breast_cancer")
#: Methods for all of Fashion-MNIST, and the largest n of exact scores here.
WHOLE_SOLVERS = ("iterative", "partition", "lowrank")
MAX_EXACT = 20_000

Method = Callable[[Any, Any, list[Any]], dict[str, list[Any]]]


def measures(wrong: Any, score: Any, flag: Any, suggestion: Any, y: Any, seconds: float) -> Any:
    """All metrics of one method on one labelling; low scores are bad. NaN: it gave no answer."""
    from scipy.stats import rankdata

    if np.isnan(score).any() or not wrong.any():
        return dict.fromkeys(METRICS, np.nan) | {"seconds": seconds}
    ranks, count = rankdata(score), int(wrong.sum())
    order = np.argsort(score, kind="stable")
    hits = np.cumsum(wrong[order])
    precision = hits / np.arange(1, len(wrong) + 1)
    return {
        "auroc": 1 - (ranks[wrong].sum() - count * (count + 1) / 2) / (count * (len(y) - count)),
        "average_precision": float((precision * wrong[order]).sum() / count),
        "precision_at_count": float(precision[count - 1]),
        "f1": 2 * float((wrong & flag).sum()) / (count + int(flag.sum())),
        "suggestion": np.nan if (suggestion < 0).all() else np.mean(suggestion == y, where=wrong),
        "corrected": np.mean(flag & (suggestion == y), where=wrong),
        "seconds": seconds,
    }


def judged(scores: Any, by: str, y: Any, z: Any, start: float, before: float) -> Any:
    """All metrics of `label_issues`, with the seconds since `start` and those spent before."""
    table = scores.label_issues(by=by)
    seconds = before + time.perf_counter() - start
    predicted, second = table["predicted_label"], table["runner_up"]
    found = measures(
        y != z,
        table["label_score"].to_numpy(),
        table["is_label_issue"].to_numpy(),
        np.where(predicted == z, second, predicted),
        y,
        seconds,
    )
    return found | ({"trial": verdict_measures(scores, y, z)} if by == "posterior" else {})


def ours(
    X: Any, y: Any, Z: list[Any], detectors: dict[str, str] | None = None
) -> dict[str, list[Any]]:
    """Ours with the automatic ridge, and the paper's detectors with ridge 0, on every labelling."""
    detectors = DETECTORS if detectors is None else detectors
    k = int(y.max()) + 1
    start = time.perf_counter()
    chosen = []
    for z in Z:
        some = ridge_sample(z, 0)
        chosen.append(least_error(unit_rows(X[some]), class_targets(z[some], k)).ridge)
    each = (time.perf_counter() - start) / len(Z)
    found: dict[str, list[Any]] = {name: [None] * len(Z) for name in ("ours", *detectors)}
    for ridge in sorted({*([0.0] if detectors else []), *chosen}):
        start = time.perf_counter()
        factor = cgscore.factor(X, ridge=ridge)
        made = time.perf_counter() - start
        for number, z in enumerate(Z):
            for name, by in {"ours": "posterior", **detectors}.items():
                if ridge == (chosen[number] if name == "ours" else 0.0):
                    start = time.perf_counter()
                    before = made + (each if name == "ours" else 0)
                    found[name][number] = judged(factor.score(z), by, y, z, start, before)
        factor.close()
        print(f"  ridge {ridge:.3g} done", flush=True)
    return found


def ours_alone(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
    """Ours without the paper's detectors."""
    return ours(X, y, Z, {})


def ours_by_solvers(solvers: Sequence[str]) -> Method:
    """Ours from the predictions of other methods; saved and loaded, so that nothing else is used.

    The first of `solvers` is "ours" where all examples are too many for exact scores.
    """

    def ours_by(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
        whole = len(X) > MAX_EXACT
        found: dict[str, list[Any]] = {}
        for solver, (number, z) in product(solvers, enumerate(Z)):
            start = time.perf_counter()
            scores = cgscore.score(X, z, ridge="auto", method=solver, progress=False)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "scores.parquet"
                scores.save(path)
                measured = judged(cgscore.load(path), "posterior", y, z, start, 0.0)
            title = "ours" if whole and solver == solvers[0] else f"ours, {solver}"
            found.setdefault(title, []).append(measured)
            print(f"  {title}, labelling {number} done", flush=True)
        return found

    return ours_by


def peers(
    X: Any, y: Any, Z: list[Any], methods: Sequence[str] = (), tables: bool = False
) -> dict[str, list[Any]]:
    """The other packages, on the same labellings; some of their methods, or all."""
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
            raw=X if tables else np.zeros(0),
            Z=np.stack(Z),
        )
        subprocess.run([str(python), str(here / "peers.py"), given, answer, *methods], check=True)
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


def run(name: str, who: str, asked: argparse.Namespace) -> list[Any]:
    """Cells of one data set, "ours" or "peers"."""
    X, y = load(name)
    kinds = [kind for kind in KINDS[name] if not asked.noise or kind in asked.noise]
    seeds = asked.seeds[:1] if name == "fashion-whole" else asked.seeds
    if who == "ours":
        method: Method = ours_alone if asked.without_detectors else ours
        if asked.solvers or name == "fashion-whole":
            method = ours_by_solvers(asked.solvers or WHOLE_SOLVERS)
        return measured(name, X, y, kinds, seeds, method)
    kinds = [kind for kind in kinds if kind != "as published"]

    def others(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
        return peers(X, y, Z, asked.methods, name in TABLES)

    return measured(name, X, y, kinds, seeds, others)


def measured(
    name: str,
    X: Any,
    y: Any,
    kinds: Sequence[str],
    seeds: Sequence[int],
    method: Method,
) -> list[Any]:
    """Cells of a method on one data set: means over seeds, and their deviations."""
    cases = [(kind, seed) for kind in kinds for seed in (seeds[:1] if kind in SEEDLESS else seeds)]
    results = method(X, y, [labelled(name, X, y, kind, seed) for kind, seed in cases])
    cells = []
    for kind in kinds:
        mine = [i for i, (other, _) in enumerate(cases) if other == kind]
        for title, values in results.items():
            each = {m: [values[i][m] for i in mine] for m in METRICS}
            cell = {"data": name, "examples": len(y), "noise": kind, "method": title}
            cell |= {"seeds": [cases[i][1] for i in mine]}
            cell |= {m: _number(np.mean(each[m])) for m in METRICS}
            cell |= {"deviation": {m: _number(np.std(each[m])) for m in METRICS}}
            if "trial" in values[mine[0]]:
                cell["trials"] = [values[i]["trial"] for i in mine]
            cells.append(cell)
    return cells


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def without_times(cells: list[Any]) -> list[Any]:
    """The same cells with no seconds."""
    for cell in cells:
        cell["seconds"] = cell["deviation"]["seconds"] = None
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    names = list(KINDS)
    parser.add_argument("--data", nargs="+", default=names, choices=names)
    parser.add_argument("--noise", nargs="+", choices=ORDER, help="only these")
    parser.add_argument("--seeds", nargs="+", type=int, default=[5, 6, 7, 8, 9])
    parser.add_argument("--without-peers", action="store_true", help="ours and the paper's only")
    parser.add_argument("--without-ours", action="store_true", help="the others only")
    parser.add_argument("--without-detectors", action="store_true", help="not the paper's")
    parser.add_argument("--without-times", action="store_true", help="leave seconds out")
    parser.add_argument("--methods", nargs="+", default=[], help="only these of the others")
    parser.add_argument("--solvers", nargs="+", help="ours by these methods instead of exact")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("--markdown", action="store_true", help="with --show: as a short table")
    parser.add_argument("--plot", type=Path, help="with --show: draw it")
    parser.add_argument("--reliability", type=Path, help="with --show: draw reliability")
    parser.add_argument("--estimates", action="store_true", help="with --show: counts, promises")
    parser.add_argument("--bins", action="store_true", help="with --show: reliability")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if asked.show:
        cells = json.loads(asked.show.read_text())["cells"]
        table = estimates if asked.estimates else bins if asked.bins else None
        (table or (markdown if asked.markdown else show))(cells)
        if asked.plot:
            plot(cells, asked.plot)
        if asked.reliability:
            reliability_plot(cells, asked.reliability)
        return
    if not asked.without_times:
        require_quiet()
    cells = []
    if asked.output and asked.output.exists():
        cells = json.loads(asked.output.read_text())["cells"]
    who = [one for one in ("ours", "peers") if not getattr(asked, f"without_{one}")]
    for name, whose in [(name, whose) for name in asked.data for whose in who]:
        found = run(name, whose, asked)
        if asked.without_times:
            found = without_times(found)
        origin = script_origin(__file__)
        found = [{**cell, "origin": origin} for cell in found]
        if asked.output and asked.output.exists():  # another run may have written meanwhile
            cells = json.loads(asked.output.read_text())["cells"]
        cells = merged(cells, found, names)
        if asked.output:  # after every part: each takes long
            document = {"version": cgscore.__version__, "cells": cells}
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            asked.output.write_text(json.dumps(document, indent=1) + "\n")
        if whose == who[-1]:
            show([cell for cell in cells if cell["data"] == name])


def merged(cells: list[Any], found: list[Any], names: list[str]) -> list[Any]:
    """Cells with new ones in the place of old ones."""
    new = {(cell["data"], cell["noise"], cell["method"]) for cell in found}
    kept = [c for c in cells if (c["data"], c["noise"], c["method"]) not in new]
    return sorted(
        [*kept, *found],
        key=lambda cell: (
            names.index(cell["data"]),
            ORDER.index(cell["noise"]),
            cell["method"] != "ours",
            cell["method"],
        ),
    )


if __name__ == "__main__":
    main()
