r"""Which rows are landmarks.

Rules (`RULES`), all of them on a random sample of the rows, `CANDIDATES_PER_LANDMARK` times as many
as landmarks at most:

- ``uniform``: rows at random;
- ``pivoted``: randomly pivoted Cholesky (`pivoted_cholesky`), which prefers rows that the landmarks
  before do not explain;
- ``k-means``: the rows that are nearest to the centres of some steps of Lloyd's.

The kernel matrix of the landmarks is factorised with pivoting; landmarks that depend on others to
within `DEPENDENT` of its diagonal are left out.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpstrf

from cgscore.errors import SingularKernelError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows, own_gram
from cgscore.rows import Rows
from cgscore.solvers.cholesky.inplace import cholesky
from cgscore.solvers.lowrank.model import Landmarks
from cgscore.solvers.lowrank.pivoted_cholesky import kernel_columns, landmark_features
from cgscore.typing import Array, Index

RULES = ("uniform", "pivoted", "k-means")
CANDIDATES_PER_LANDMARK = 4
KMEANS_STEPS = 5
DEPENDENT = 1e-10  # a share of the diagonal so small that a landmark adds nothing but rounding


def landmarks_of(
    rows: Rows, m: int, ridge: float, *, seed: int, rule: str = "uniform"
) -> Landmarks:
    """At most m landmarks and their factor; fewer where some depend on others.

    One BLAS thread does it all, so that the bits do not depend on how many there are.
    """
    with one_blas_thread():
        positions = _positions(rows, m, seed, rule)
        chosen = rows[positions]
        K = np.asfortranarray(own_gram(chosen))
        C = K.copy(order="F")
        status = cholesky(C)
        if status or C.diagonal().min() ** 2 < DEPENDENT * chosen.kernel.diagonal:
            kept = _independent(K, DEPENDENT * chosen.kernel.diagonal)
            positions, chosen = positions[kept], chosen[kept]
            C = np.asfortranarray(K[np.ix_(kept, kept)])
            status = cholesky(C)
    if status:
        raise SingularKernelError(
            f"The kernel matrix of {len(C):,} landmarks has no Cholesky factor (LAPACK's status "
            f"{status}): rows are nearly identical. Use another seed or fewer landmarks."
        )
    C[:] = np.tril(C)
    return Landmarks(positions, chosen, C, ridge)


def _independent(K: Array, tolerance: float) -> Index:
    """Positions whose pivots are above the tolerance, ascending."""
    _, pivots, rank, status = dpstrf(K, lower=1, tol=tolerance)
    if status < 0:
        raise RuntimeError(f"LAPACK dpstrf returned status {status}")
    kept: Index = np.sort(pivots[:rank] - 1).astype(np.intp)
    return kept


def _positions(rows: Rows, m: int, seed: int, rule: str) -> Index:
    n = len(rows)
    rng = stream(seed, "landmarks")
    if m >= n:
        return np.arange(n)
    if rule == "uniform":
        return np.sort(rng.choice(n, m, replace=False))
    count = min(n, CANDIDATES_PER_LANDMARK * m)
    candidates = np.sort(rng.choice(n, count, replace=False))
    sample = rows[candidates]
    if rule == "pivoted":
        diagonal = np.full(count, sample.kernel.diagonal)
        taken = landmark_features(kernel_columns(sample), diagonal, m, seed=seed).landmarks
    else:
        taken = _nearest_to_centres(sample, m, rng)
    return np.sort(candidates[taken])


def _nearest_to_centres(sample: UnitRows, m: int, rng: np.random.Generator) -> Index:
    """Rows nearest to the centres of Lloyd's algorithm, each once."""
    X = sample.centred
    centres = X[rng.choice(len(X), m, replace=False)]
    for _ in range(KMEANS_STEPS):
        nearest = np.argmin(np.einsum("ij,ij->i", centres, centres) - 2 * X @ centres.T, axis=1)
        counts = np.bincount(nearest, minlength=m)
        totals = np.zeros_like(centres)
        np.add.at(totals, nearest, X)
        centres = np.where(counts[:, None], totals / np.maximum(counts, 1)[:, None], centres)
    rows = np.argmin(sample.squares[:, None] - 2 * X @ centres.T, axis=0)
    return np.unique(rows)
