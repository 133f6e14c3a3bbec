"""The paper's counts of wrong labels (appendix B) with its estimator, and our decision beside them.

::

    python bench/counts.py -o results/counts.json              # about two hours on two cores
    python bench/counts.py --data Fashion-MNIST --checkpoint SOME/FOLDER
    python bench/counts.py --show results/counts.json          # the tables again

20 % of the labels of every class are wrong, uniformly. The paper's estimator (2 runs) gives partial
scores: how many wrong and how many right labels have a positive one, and how many wrong labels are
among the top 20 %. Beside them what `Scores.label_issues` decides on the same labels, scored with
the automatic ridge. CIFAR-10 channels are standardised, as for the paper's other figures.

Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from iterative import load
from noise import noisy
from subsample import standardised

import cgscore
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

RUNS = 2
#: What the paper says, and 1:1, with which its counts for CIFAR-10 agree.
RATIOS = {"Fashion-MNIST": (3,), "CIFAR-10": (4, 1)}
#: Positive among the wrong, positive among the right, wrong among the top 20 %.
PAPER = {"Fashion-MNIST": (11_796, 3_462, 10_776), "CIFAR-10": (7_146, 8_331, 5_619)}


def counts(name: str, seed: int, checkpoint: Path | None) -> dict[str, Any]:
    X, y = load(name)
    y = np.asarray(y).astype(int)
    inputs: Any = standardised(X, X) if name == "CIFAR-10" else X
    given = noisy(X, y, "20 % uniform", seed)
    wrong = given != y
    rows: dict[str, Any] = {"paper, positive partial score": (*PAPER[name], None)}
    for ratio in RATIOS[name]:
        start = time.perf_counter()
        kept = None if checkpoint is None else checkpoint / f"{name}-{ratio}"
        scores = cgscore.score(
            inputs, given, method="subsample", ratio=ratio, runs=RUNS, checkpoint=kept
        )
        partial = scores.table["partial"].to_numpy()
        seconds = time.perf_counter() - start
        positive = partial > 0
        top = np.argsort(-partial, kind="stable")[: int(wrong.sum())]
        found = (positive & wrong).sum(), (positive & ~wrong).sum(), wrong[top].sum()
        rows[f"its estimator, 1:{ratio}, {RUNS} runs"] = (*map(int, found), seconds)
    start = time.perf_counter()
    table = cgscore.score(inputs, given, ridge="auto", method="iterative").label_issues()
    our_seconds = time.perf_counter() - start
    flag = table["is_label_issue"].to_numpy()
    best = np.argsort(table["label_score"].to_numpy(), kind="stable")[: int(wrong.sum())]
    ours = (flag & wrong).sum(), (flag & ~wrong).sum(), wrong[best].sum()
    rows["ours, label_issues()"] = (*map(int, ours), our_seconds)
    names = ("flagged_wrong", "flagged_right", "wrong_among_top", "seconds")
    return {
        "data": name,
        "examples": len(y),
        "runs": RUNS,
        "seed": seed,
        "wrong": int(wrong.sum()),
        "estimated_wrong": table.attrs["estimated_wrong"],
        "rows": {title: dict(zip(names, row, strict=True)) for title, row in rows.items()},
    }


def show(found: dict[str, Any]) -> None:
    """The paper's counts, ours with its estimator, and our decision."""
    name, n, wrong, seed = (found[key] for key in ("data", "examples", "wrong", "seed"))
    print(f"{name}, {n:,} examples, {wrong:,} wrong labels, seed {seed}")
    print(f"{'flagged':<34}{'wrong':>9}{'right':>9}{'wrong among top':>17}{'seconds':>9}")
    for title, row in found["rows"].items():
        spent = "" if row["seconds"] is None else f"{row['seconds']:.0f}"
        print(
            f"{title:<34}{row['flagged_wrong']:>9,}{row['flagged_right']:>9,}"
            f"{row['wrong_among_top']:>17,}{spent:>9}",
            flush=True,
        )
    print(f"estimated number of wrong labels: {found['estimated_wrong']:,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", default=list(RATIOS), choices=list(RATIOS))
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--checkpoint", type=Path, help="folder that keeps finished parts")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    if asked.show:
        for found in json.loads(asked.show.read_text()):
            show(found)
        return
    for name in asked.data:
        found = counts(name, asked.seed, asked.checkpoint)
        show(found)
        if asked.output:
            kept = json.loads(asked.output.read_text()) if asked.output.exists() else []
            kept = [one for one in kept if one["data"] != name]
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            asked.output.write_text(
                json.dumps([*kept, found | script_origin(__file__)], indent=1) + "\n"
            )


if __name__ == "__main__":
    require_quiet()
    main()
