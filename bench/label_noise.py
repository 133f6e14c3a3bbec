"""Who finds wrong labels best: ours, the paper's detectors, cleanlab and nearest neighbours.

::

    python bench/label_noise.py -o results/label_noise.json           # all data, seeds 5-9
    python bench/label_noise.py --data digits --seeds 0 1 2 3 4       # for fixing constants
    python bench/label_noise.py --show results/label_noise.json       # the tables again
    python bench/label_noise.py --show results/label_noise.json --markdown --plot P.svg
    python bench/label_noise.py --estimates                           # how many, by our count

Every method gets the same inputs and the same noisy labels (`noise.py`). The other packages run in
an environment of the bench's own (.peers, made if missing). Printed and written, for every data
set, noise and method, means over seeds: AUROC, average precision, precision at the true count, F1
of the decision, accuracy of the suggested label on the truly wrong ones, and seconds. Seconds of
ours are those of a factor and of what each labelling takes on top. ``fashion-whole`` is all 60,000
examples, two noises, the first seed, scored with the iterative method.

The suggested label is for all methods the best class other than the given one. The paper's CG and
partial score only rank: they flag as many labels as our estimate says. What is not run again keeps
its place in the output file. Data are found in CGSCORE_DATA, by default ../shared/data.
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
from pathlib import Path
from typing import Any

import numpy as np
from iterative import load as load_whole
from iterative import sample
from noise import RATES, noisy

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.kernel import unit_rows
from cgscore.solvers.ridge_search import least_error, ridge_sample
from cgscore.valuation import class_targets
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

SIZE = 8000
DETECTORS = {"CG (paper)": "cg", "partial (paper)": "partial", "sign rule (paper)": "sign"}
KINDS = [kind for kind in RATES if kind != "10 % uniform"]  # that one is for small tables
WHOLE = ("20 % uniform", "30 % to one other class")  # noises for all 60,000
METRICS = ("auroc", "average_precision", "precision_at_count", "f1", "suggestion", "seconds")


def load(name: str) -> tuple[Any, Any]:
    if name == "digits":
        data = cgscore.read("sklearn:digits")
        return np.asarray(data.X, np.float64).reshape(len(data), -1), np.asarray(data.y)
    if name == "fashion-whole":
        X, y = load_whole("Fashion-MNIST")
        return X.astype(np.float64), y.astype(int)
    X, y = sample({"fashion": "Fashion-MNIST", "cifar": "CIFAR-10"}[name], SIZE)
    return X, y.astype(int)


def measures(wrong: Any, score: Any, flag: Any, suggestion: Any, y: Any, seconds: float) -> Any:
    """All metrics of one method on one labelling; low scores are bad. NaN: it gave no answer."""
    from scipy.stats import rankdata

    if np.isnan(score).any():
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
        "seconds": seconds,
    }


def judged(scores: Any, by: str, y: Any, z: Any, start: float, before: float) -> Any:
    """All metrics of `label_issues`, with the seconds since `start` and those spent before."""
    table = scores.label_issues(by=by)
    seconds = before + time.perf_counter() - start
    predicted, second = table["predicted_label"], table["runner_up"]
    return measures(
        y != z,
        table["label_score"].to_numpy(),
        table["is_label_issue"].to_numpy(),
        np.where(predicted == z, second, predicted),
        y,
        seconds,
    )


def ours(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
    """Ours with the automatic ridge, and the paper's detectors with ridge 0, on every labelling."""
    some, k = ridge_sample(len(X), 0), int(y.max()) + 1
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
                if ridge == (chosen[number] if name == "ours" else 0.0):
                    start = time.perf_counter()
                    before = made + (each if name == "ours" else 0)
                    found[name][number] = judged(factor.score(z), by, y, z, start, before)
        factor.close()
    return found


def ours_whole(X: Any, y: Any, Z: list[Any]) -> dict[str, list[Any]]:
    """The same for so many examples that scores are iterated."""
    found: dict[str, list[Any]] = {name: [] for name in ("ours", *DETECTORS)}
    for z in Z:
        start = time.perf_counter()
        scores = cgscore.score(X, z, ridge="auto", method="iterative")
        found["ours"].append(judged(scores, "posterior", y, z, start, 0.0))
        start = time.perf_counter()
        scores = cgscore.score(X, z, method="iterative")
        made = time.perf_counter() - start
        for name, by in DETECTORS.items():
            start = time.perf_counter()
            found[name].append(judged(scores, by, y, z, start, made))
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


def run(name: str, seeds: list[int], who: str) -> list[Any]:
    """Cells of one data set, "ours" or "peers"."""
    X, y = load(name)
    if name != "fashion-whole":
        return measured(name, X, y, KINDS, seeds, ours if who == "ours" else peers)
    return measured(name, X, y, WHOLE, seeds[:1], ours_whole if who == "ours" else peers)


def measured(
    name: str,
    X: Any,
    y: Any,
    kinds: Sequence[str],
    seeds: Sequence[int],
    method: Callable[[Any, Any, list[Any]], dict[str, list[Any]]],
) -> list[Any]:
    """Cells of a method on one data set: means over seeds, and their deviations."""
    cases = [(kind, seed) for kind in kinds for seed in seeds]
    results = method(X, y, [noisy(X, y, kind, seed) for kind, seed in cases])
    cells = []
    for kind in kinds:
        mine = [i for i, (other, _) in enumerate(cases) if other == kind]
        for title, values in results.items():
            each = {m: [values[i][m] for i in mine] for m in METRICS}
            cell = {"data": name, "examples": len(y), "noise": kind, "method": title}
            cell |= {"seeds": list(seeds)}
            cell |= {m: _number(np.mean(each[m])) for m in METRICS}
            cells.append(cell | {"deviation": {m: _number(np.std(each[m])) for m in METRICS}})
    return cells


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _text(value: float | None) -> str:
    return "        -" if value is None else f"{value:9.4f}"


def _answered(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if cell["auroc"] is not None]


def show(cells: list[Any]) -> None:
    """Tables, a noise each, and where ours is not first."""
    for data, noise in dict.fromkeys((cell["data"], cell["noise"]) for cell in cells):
        print(f"\n{data}, {noise:<25}" + "  ".join(metric[:9].rjust(9) for metric in METRICS))
        mine = [cell for cell in cells if (cell["data"], cell["noise"]) == (data, noise)]
        for cell in mine:
            print(f"  {cell['method']:<37}" + "  ".join(_text(cell[m]) for m in METRICS))
        for metric in ("auroc", "average_precision", "f1"):
            best = max(_answered(mine), key=lambda cell: cell[metric])
            if best["method"] != "ours":
                print(f"  not first in {metric}: {best['method']}")


def markdown(cells: list[Any]) -> None:
    """Ours against the best of the others, a line for each noise."""
    shown = ("auroc", "average_precision", "f1")
    print("| data | noise | AUROC | average precision | F1 | suggested label right |")
    print("|---|---|---|---|---|---|")
    for data, noise in dict.fromkeys((cell["data"], cell["noise"]) for cell in cells):
        mine = [cell for cell in cells if (cell["data"], cell["noise"]) == (data, noise)]
        (our,) = (cell for cell in mine if cell["method"] == "ours")
        line = []
        for metric in shown:
            best = max((c for c in _answered(mine) if c is not our), key=lambda c: c[metric])
            us, them = f"{our[metric]:.3f}", f"{best[metric]:.3f}"
            us, them = (f"**{us}**", them) if our[metric] > best[metric] else (us, f"**{them}**")
            line.append(f"{us} / {them} {best['method']}")
        print(f"| {data} | {noise} | {' | '.join(line)} | {our['suggestion']:.3f} |")


def estimates(name: str, seeds: list[int]) -> None:
    """How many labels are wrong by our estimate, and how often the interval holds the truth."""
    X, y = load(name)
    for kind in KINDS:
        ratio, held = [], []
        for seed in seeds:
            z = noisy(X, y, kind, seed)
            found = cgscore.score(X, z, ridge="auto", method="exact").label_issues().attrs
            truth, (low, high) = int((y != z).sum()), found["interval"]
            ratio.append(found["estimated_wrong"] / truth)
            held.append(low <= truth <= high)
        print(
            f"{name:<8} {kind:<25} estimated / true {np.mean(ratio):.2f} "
            f"({min(ratio):.2f} to {max(ratio):.2f}); "
            f"the interval holds the truth {sum(held)} times of {len(held)}",
            flush=True,
        )


def plot(cells: list[Any], path: Path) -> None:
    """Average precision and F1 of every method, a panel for each data set and metric."""
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(cell["data"] for cell in cells))
    methods = list(dict.fromkeys(cell["method"] for cell in cells))
    noises = KINDS
    shown = {"auroc": "AUROC", "average_precision": "average precision", "f1": "F1 of the decision"}
    figure, panels = plt.subplots(
        len(shown), len(names), figsize=(3.4 * len(names), 8), squeeze=False, sharey="row"
    )
    for column, name in enumerate(names):
        mine = [cell for cell in cells if cell["data"] == name]
        for row, (metric, title) in enumerate(shown.items()):
            panel = panels[row][column]
            for number, method in enumerate(methods):
                drawn = [cell for cell in _answered(mine) if cell["method"] == method]
                panel.plot(
                    [cell[metric] for cell in drawn],
                    [noises.index(cell["noise"]) for cell in drawn],
                    "D" if method == "ours" else "o",
                    color="black" if method == "ours" else f"C{number - 1}",
                    markersize=7 if method == "ours" else 5,
                    label=method,
                    zorder=3 if method == "ours" else 2,
                )
            panel.set_yticks(range(len(noises)), noises)
            panel.set_ylim(len(noises) - 0.5, -0.5)
            panel.set_xlim(0, 1.02)
            panel.grid(alpha=0.3)
            panel.set_xlabel(title)
        panels[0][column].set_title(f"{name}, {mine[0]['examples']:,} examples")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    names = ["digits", "fashion", "cifar", "fashion-whole"]
    parser.add_argument("--data", nargs="+", default=names, choices=names)
    parser.add_argument("--seeds", nargs="+", type=int, default=[5, 6, 7, 8, 9])
    parser.add_argument("--without-peers", action="store_true", help="ours and the paper's only")
    parser.add_argument("--without-ours", action="store_true", help="the others only")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("--markdown", action="store_true", help="with --show: as a short table")
    parser.add_argument("--plot", type=Path, help="with --show: draw it")
    parser.add_argument("--estimates", action="store_true", help="count only, and stop")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if asked.show:
        cells = json.loads(asked.show.read_text())["cells"]
        (markdown if asked.markdown else show)(cells)
        if asked.plot:
            plot(cells, asked.plot)
        return
    if asked.estimates:
        for name in asked.data[:3] if asked.data == names else asked.data:
            estimates(name, asked.seeds)
        return
    cells = []
    if asked.output and asked.output.exists():
        cells = json.loads(asked.output.read_text())["cells"]
    who = [one for one in ("ours", "peers") if not getattr(asked, f"without_{one}")]
    for name, whose in [(name, whose) for name in asked.data for whose in who]:
        found = run(name, asked.seeds, whose)
        new = {(cell["data"], cell["method"]) for cell in found}
        kept = [cell for cell in cells if (cell["data"], cell["method"]) not in new]
        cells = sorted(
            [*found, *kept] if whose == "ours" else [*kept, *found],
            key=lambda cell: (names.index(cell["data"]), KINDS.index(cell["noise"])),
        )
        if asked.output:  # after every part: each takes long
            origin = {"version": cgscore.__version__, **script_origin(__file__)}
            document = {**origin, "cells": cells}
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            asked.output.write_text(json.dumps(document, indent=1) + "\n")
        if whose == who[-1]:
            show([cell for cell in cells if cell["data"] == name])


if __name__ == "__main__":
    require_quiet()
    main()
