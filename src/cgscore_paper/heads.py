"""Linear heads on the features of a pretrained network, trained on what pruning keeps (appendix E).

The network is efficientnet-lite0, trained on ImageNet. Its features of all images are computed once
and cached by `cgscore.read`. A head is a multinomial logistic regression with a small penalty: a
convex problem, solved to convergence, so that the same examples always give the same head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from cgscore import read
from cgscore.errors import ConvergenceError
from cgscore.selection.orders import select
from cgscore.training import random_score
from cgscore.typing import Index
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.trainings import values

ENCODER = "efficientnet-lite0"
DATASET = "cifar-10"
#: Shares of the examples that stay.
SHARES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
#: Repeats of random removal; heads of other orders do not vary.
RANDOM_REPEATS = 5
PENALTY = 1e-3  # times half the sum of squared weights, beside the mean loss
TOLERANCE = 1e-5  # largest entry of the gradient at the solution
_MAX_STEPS = 1_000

Single = NDArray[np.float32]


def fit_head(X: Single, codes: Index, k: int) -> Single:
    """Weights (p + 1, k) of a softmax regression; the last row is the intercept.

    Minimises the mean cross-entropy plus ``PENALTY / 2`` times the squares of all weights but the
    intercept, by L-BFGS.
    """
    n, p = X.shape
    target = np.zeros((n, k), np.float32)
    target[np.arange(n), codes] = 1

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        W = flat.reshape(p + 1, k)
        logits = X @ W[:-1].astype(np.float32) + W[-1]
        value = -float((target * log_softmax(logits, axis=1)).sum()) / n
        residual = (softmax(logits, axis=1) - target).astype(np.float32)
        gradient = np.vstack([X.T @ residual, residual.sum(axis=0)]).astype(np.float64) / n
        gradient[:-1] += PENALTY * W[:-1]
        return value + PENALTY / 2 * float((W[:-1] ** 2).sum()), gradient.ravel()

    options: Any = {"maxiter": _MAX_STEPS, "gtol": TOLERANCE, "ftol": 0.0, "maxcor": 20}
    found = minimize(loss, np.zeros((p + 1) * k), jac=True, method="L-BFGS-B", options=options)
    largest = float(np.abs(loss(found.x)[1]).max())
    if largest > 10 * TOLERANCE:
        raise ConvergenceError(
            f"The head did not converge in {found.nit} steps: the gradient is {largest:.1e}. "
            "Raise PENALTY."
        )
    return np.asarray(found.x.reshape(p + 1, k), np.float32)


def head_accuracy(head: Single, X: Single, codes: Index) -> float:
    """The share of examples for which the head is right."""
    return float(((X @ head[:-1] + head[-1]).argmax(axis=1) == codes).mean())


def encoded(work: Work, dataset: str, split: str) -> tuple[Single, Index]:
    """Features and classes of all images of a split, from the cache of `cgscore.read`."""
    path = work.data / SOURCES[dataset].folder / f"{split}.parquet"
    found = read(path, encoder=ENCODER)
    return np.asarray(found.X, np.float32), np.unique(np.asarray(found.y), return_inverse=True)[1]


@job(
    "heads.accuracy",
    version=1,
    alone=True,
    sample={
        "plan": "sample",
        "dataset": "cifar-10",
        "by": "random",
        "order": "low-first",
        "shares": [0.5],
        "seed": 0,
        "repeat": 0,
    },
    tolerance=0.1,
)
def heads(
    work: Work,
    plan: str,
    dataset: str,
    by: str,
    order: str,
    shares: Sequence[float],
    seed: int,
    repeat: int,
) -> dict[str, Any]:
    """Test accuracies of heads trained on some shares of the examples, the same of every class.

    ``by`` is a score of `trainings.values`, ``random`` or ``full``. Features are standardised by
    all training images.
    """
    sizes = Plan.named(plan, seed)
    X, codes = encoded(work, dataset, "train")
    X_test, codes_test = encoded(work, dataset, "test")
    mean, spread = X.mean(axis=0), X.std(axis=0) + 1e-6
    X, X_test = (X - mean) / spread, (X_test - mean) / spread
    if by in ("random", "full"):
        score = random_score(len(codes), 1000 * seed + repeat)
    else:
        score = values(work, sizes, dataset, by)
    accuracies = []
    for share in shares:
        rows = select(score, codes, max(1, round(share * len(codes))), order=order)
        head = fit_head(X[rows], codes[rows], int(codes.max()) + 1)
        accuracies.append(head_accuracy(head, X_test, codes_test))
    return {"accuracy": accuracies, "dimensions": X.shape[1]}


def head_cells(plan: Plan, by: str, order: str = "low-first") -> list[Cell]:
    """The cells of `heads` for a line of the figure; ``full`` is all examples."""
    shares = [1.0] if by == "full" else list(SHARES)
    return [
        heads.cell(
            plan=plan.name,
            dataset=DATASET,
            by=by,
            order=order,
            shares=shares,
            seed=plan.seed,
            repeat=repeat,
        )
        for repeat in range(RANDOM_REPEATS if by == "random" else 1)
    ]
