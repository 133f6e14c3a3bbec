"""Simulated reviewers: decisions until 99 % of the labels are right, and what the page says.

::

    python bench/review.py -o results/review.json
    python bench/review.py --data digits --seeds 0 --reviewers 0
    python bench/review.py --show results/review.json
    python bench/review.py --renewal 20000 -o results/review.json   # seconds of one renewal

Labels of scikit-learn's digits and of Fashion-MNIST (under ``CGSCORE_DATA``) are made wrong:
``uniform``, to any other class, or ``next``, to the class that follows. A simulated reviewer goes
through all examples in the order of the review: the ``fixed`` order of the scores, or the
``renewed`` one, which follows the decisions. Reviewers choose the right label; those who err choose
the given label instead with that probability where it is wrong, and the suggested one where it is
right; how often they err is told to the review (``--reviewer-error``). Everything runs through
`cgscore.review.Review` itself, without its server.

``looks`` is the number of decisions after which 99 % of all labels are right (wrong decisions count
as wrong labels). ``said`` is the number after which the review says so with 95 % probability, and
``share`` how many labels were right then: the statement is true if that is 99 % or more.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cgscore
from cgscore.review import Decisions, Review
from cgscore.review.cleanliness import GOAL
from cgscore.review.live_order import LABELS_PER_RENEWAL
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

DATA = Path(os.environ.get("CGSCORE_DATA", "../shared/data"))
CASES = {  # examples, share of wrong labels, kind of noise
    "digits uniform": (1797, 0.1, "uniform"),
    "Fashion-MNIST uniform": (2000, 0.08, "uniform"),
    "Fashion-MNIST next": (2000, 0.08, "next"),
}
STEP = 10  # decisions between two looks at the progress
MAX_LOOKS = 800  # after which a reviewer gives up


def examples(case: str, seed: int) -> tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Inputs, true classes and given classes of a case."""
    rng = np.random.default_rng(seed)
    n, share, kind = CASES[case]
    if case.startswith("digits"):
        data = cgscore.read("sklearn:digits")
    else:
        data = cgscore.read(str(DATA / "fashion-mnist"), split="train")
    assert data.y is not None
    at = rng.permutation(len(data.y))[:n]
    truth = np.asarray(data.y)[at].astype(int)
    wrong = rng.random(n) < share
    step = rng.integers(1, 10, n) if kind == "uniform" else 1
    return data.X[at].reshape(n, -1), truth, np.where(wrong, (truth + step) % 10, truth)


def walk(case: str, seed: int, error: float, renewed: bool) -> dict[str, Any]:
    """One reviewer's way through all examples, until the goal is reached and said to be."""
    X, truth, given = examples(case, seed)
    scores = cgscore.score(X, given, ridge="auto")
    rng = np.random.default_rng(seed + 1000)
    with tempfile.TemporaryDirectory() as folder:
        decisions = Decisions(Path(folder) / "d", scores.meta["fingerprint"])
        review = Review(scores, scores.data(), decisions, reviewer_error=error)
        found = _go_through(review, truth, given, rng, error, renewed)
        decisions.close()
    names = {"case": case, "seed": seed, "error": error}
    return {**names, "order": "renewed" if renewed else "fixed", **found}


def _go_through(
    review: Review,
    truth: np.ndarray[Any, Any],
    given: np.ndarray[Any, Any],
    rng: np.random.Generator,
    error: float,
    renewed: bool,
) -> dict[str, Any]:
    n, labels = len(truth), given.copy()
    undecided = np.ones(n, bool)
    looks = said = share = None
    changed = 0
    for count in range(0, n, STEP):
        right = float((labels == truth).mean())
        if looks is None and right >= GOAL:
            looks = count
        if said is None and review.progress()["clean"]["reached"]:
            said, share = count, right
        if said is not None and (looks is not None or count > 3 * said + 500):
            break
        if looks is None and count > MAX_LOOKS:
            break
        open_rows = np.flatnonzero(undecided)
        chosen = open_rows[np.argsort(review.subject.right[open_rows], kind="stable")[:STEP]]
        batch = []
        for at in chosen.tolist():
            suggested = review.subject.verdict(at)["to"]
            errs = rng.random() < error
            wrong_choice = given[at] if truth[at] != given[at] else suggested
            labels[at] = wrong_choice if errs else truth[at]
            batch.append((at, "change", int(labels[at]), None))
        review.decide_many(batch)
        undecided[chosen] = False
        changed += int((labels[chosen] != given[chosen]).sum())
        if renewed and changed >= LABELS_PER_RENEWAL:
            changed = 0
            review.renew()
    return {
        "wrong": int((given != truth).sum()),
        "looks": looks,
        "said": said,
        "share": share,
        "true": None if share is None else share >= GOAL,
    }


def renewal(n: int) -> dict[str, Any]:
    """Seconds for the factor, and for one renewal with it, for n Fashion-MNIST images."""
    data = cgscore.read(str(DATA / "fashion-mnist"), split="train")
    assert data.y is not None
    rng = np.random.default_rng(0)
    y = np.asarray(data.y)[:n].astype(int)
    given = np.where(rng.random(n) < 0.05, (y + 1) % 10, y)
    X = data.X[:n].reshape(n, -1)
    scores = cgscore.score(X, given, ridge=0.3, method="partition")  # the order before any renewal
    with tempfile.TemporaryDirectory() as folder:
        decisions = Decisions(Path(folder) / "d", scores.meta["fingerprint"])
        review = Review(scores, scores.data(), decisions)
        start = time.perf_counter()
        review._made_factor()
        factor = time.perf_counter() - start
        review.renew()  # the first one fits the noise model
        seconds = []
        for row in review.queue()[:5]:
            review.decide(row["at"], "accept", row["to"], None)
            start = time.perf_counter()
            review.renew()
            seconds.append(time.perf_counter() - start)
        decisions.close()
    return {"examples": n, "factor_seconds": factor, "renewal_seconds": sorted(seconds)[2]}


def show(document: dict[str, Any]) -> None:
    """Print looks of both orders and how often the statement was true."""
    cells = document["cells"]
    print(f"{'data':<24}{'errs':>6}{'wrong':>7}{'fixed':>7}{'renewed':>9}{'said':>7}{'true':>8}")
    for case, error in sorted({(cell["case"], cell["error"]) for cell in cells}):
        rows = [cell for cell in cells if (cell["case"], cell["error"]) == (case, error)]

        def mean(name: str, order: str, rows: list[dict[str, Any]] = rows) -> str:
            chosen = [row[name] for row in rows if row["order"] == order]
            known = [value for value in chosen if value is not None]
            return f"{np.mean(known):.0f}" if len(known) == len(chosen) else "never"

        said = [row["true"] for row in rows if row["true"] is not None]  # where it was said at all
        print(
            f"{case:<24}{error:>6.0%}{mean('wrong', 'fixed'):>7}{mean('looks', 'fixed'):>7}"
            f"{mean('looks', 'renewed'):>9}{mean('said', 'renewed'):>7}{sum(said):>5}/{len(said)}"
        )
    if "renewal" in document:
        found = document["renewal"]
        print(
            f"{found['examples']:,} examples: factor {found['factor_seconds']:.0f} s, renewal "
            f"{found['renewal_seconds']:.2f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--renewal", type=int, metavar="N")
    parser.add_argument("--data", nargs="+", default=list(CASES), metavar="CASE")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--reviewers", type=float, nargs="+", default=[0.0, 0.05])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.show:
        show(json.loads(options.show.read_text()))
        return
    head = ["git", "rev-parse", "HEAD"]
    document: dict[str, Any] = {
        "command": " ".join(["python", "bench/review.py", *sys.argv[1:]]),
        "commit": subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, shared with other work",
        "date": str(datetime.date.today()),
        "cells": [],
    }
    if options.renewal:
        require_quiet()
        found = {**script_origin(__file__), **renewal(options.renewal)}
        print(json.dumps(found))
        if options.output:  # beside the decisions that it holds
            kept = json.loads(options.output.read_text()) if options.output.exists() else {}
            options.output.write_text(json.dumps({**kept, "renewal": found}, indent=1) + "\n")
        return
    names = [case for case in CASES if any(case.startswith(name) for name in options.data)]
    for case in names:
        for error in options.reviewers:
            for seed in options.seeds:
                for renewed in (False, True):
                    cell = walk(case, seed, error, renewed)
                    print(json.dumps(cell), flush=True)
                    document["cells"].append(cell)
                    if options.output:
                        options.output.write_text(json.dumps(document, indent=1) + "\n")
    show(document)


if __name__ == "__main__":
    main()
