"""How good verdicts are: decisions, probabilities, counts and promises, for `label_noise.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from earlier_rule import right_by_earlier_rule

from cgscore.issues.noise_model import NoiseModel, estimate_noise
from cgscore.issues.verdicts import judge

BINS = 15
PROMISE = 0.9
CERTAIN = 0.995


def f1(wrong: Any, flagged: Any) -> float:
    """F1 of a decision; 0 where nothing is wrong."""
    return 2 * float((wrong & flagged).sum()) / max(1, int(wrong.sum()) + int(flagged.sum()))


def best_f1(wrong: Any, score: Any) -> float:
    """F1 of the best threshold on a score, low being bad."""
    hits = np.cumsum(wrong[np.argsort(score, kind="stable")])
    return float((2 * hits / (wrong.sum() + np.arange(1, len(wrong) + 1))).max())


def found_with_precision(wrong: Any, score: Any, precision: float) -> int:
    """Wrong labels found by the threshold that finds most with this precision."""
    hits = np.cumsum(wrong[np.argsort(score, kind="stable")])
    kept = hits / np.arange(1, len(wrong) + 1) >= precision
    return int(hits[kept].max(initial=0))


def reliability(wrong: Any, score: Any) -> list[list[float]]:
    """Mean probability of being wrong and share that is, in bins of equal count."""
    order = np.argsort(score, kind="stable")
    return [
        [float(1 - score[part].mean()), float(wrong[part].mean()), len(part)]
        for part in np.array_split(order, min(BINS, len(order)))
    ]


def calibration_error(bins: list[list[float]]) -> float:
    """Expected calibration error of bins of `reliability`."""
    chance, share, count = np.array(bins).T
    return float((np.abs(chance - share) * count).sum() / count.sum())


def verdict_measures(scores: Any, y: Any, z: Any) -> dict[str, Any]:
    """What one labelling shows of the decision, the count, the promise and the probabilities."""
    wrong, count = y != z, int((y != z).sum())
    issues = scores.find_issues()
    table, summary = issues.table, issues.summary
    score = table["label_score"].to_numpy()
    flagged = table["is_label_issue"].to_numpy()
    F = scores.judging_loo
    noise = estimate_noise(F, z)
    alone = judge(F, z, NoiseModel(noise.T, noise.calibration, noise.anchors))
    earlier = right_by_earlier_rule(F, z)
    promise = scores.label_issues(precision=PROMISE)["is_label_issue"].to_numpy()
    certain = table["confidence"].to_numpy() >= CERTAIN
    bins = reliability(wrong, score)
    return {
        "wrong": count,
        "flagged": int(flagged.sum()),
        "precision": _share(wrong, flagged),
        "f1": f1(wrong, flagged),
        "f1_one_matrix": f1(wrong, alone.right < 0.5),
        "flagged_one_matrix": int((alone.right < 0.5).sum()),
        "f1_earlier": f1(wrong, earlier < 0.5),
        "flagged_earlier": int((earlier < 0.5).sum()),
        "f1_best": best_f1(wrong, score) if count else None,
        "f1_all": f1(wrong, np.ones(len(y), bool)),
        "estimated": summary.estimated_wrong,
        "estimated_one_matrix": float((1 - alone.right).sum()),
        "estimated_earlier": float((1 - earlier).sum()),
        "low": summary.interval[0],
        "high": summary.interval[1],
        "contested": summary.contested,
        "overlap": summary.overlap,
        "hard_to_tell": summary.hard_to_tell,
        "promise_flagged": int(promise.sum()),
        "promise_precision": _share(wrong, promise),
        "promise_found": int((wrong & promise).sum()),
        "promise_possible": found_with_precision(wrong, score, PROMISE),
        "ece": calibration_error(bins),
        "ece_earlier": calibration_error(reliability(wrong, earlier)),
        "bins": bins,
        "certain": int(certain.sum()),
        "certain_right": _share(table["predicted_label"].to_numpy() == y, certain),
        "predicted_right": _share(table["predicted_label"].to_numpy() == y, wrong),
    }


def _share(true: Any, among: Any) -> float | None:
    return float(np.mean(true[among])) if among.any() else None
