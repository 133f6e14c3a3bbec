r"""Which unlabelled examples to label next: those that leave the least variance in the pool.

==========  ========  =====================================================================
symbol      shape     meaning
==========  ========  =====================================================================
K_pp        q x q     kernel of the pool
Z           n x q     ``L^-1 K_Lp`` with ``L L^T`` the kernel of the labelled examples, ridge
                      included
V           q x q     ``K_pp - Z^T Z``, the predictive covariance of the pool given the labelled
==========  ========  =====================================================================

Labelling j lowers the total predictive variance of the pool, ``trace V``, by ``|V_j|^2 / s_j`` with
``s_j = V_jj + ridge``: the greedy step without labels (`greedy.py`), in features of V of rank m.
A pool from which nothing can be learnt (its rows are labelled already) keeps its order, with gains
of 0.

- `label_next` has a factor of the labelled examples, and takes the columns of V from Z. Cost:
  ``n^2 q`` flops for Z, ``2 q m (m + n + p)`` for features, ``4 q m`` for each choice.
- `label_next_lowrank` has none. Features Phi of the labelled and the pool together give
  ``V = Phi_p M Phi_p^T`` with ``M = (I + Phi_L^T N^-1 Phi_L)^-1``, where N holds the ridge and what
  the features leave out: ``2 (n + q) m (m + p)`` flops.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from cgscore.errors import OptionError, SingularKernelError
from cgscore.execution.blas import all_blas_threads
from cgscore.execution.progress import Progress
from cgscore.kernel import UnitRows, gram_block
from cgscore.selection.greedy import Ranking, rank
from cgscore.solvers.lowrank.pivoted_cholesky import Features, kernel_columns, landmark_features
from cgscore.typing import Array, Index

MAX_LANDMARKS = 1000
CHUNK_ROWS = 1024  # rows of the pool whose kernel with the labelled is held at once
MIN_RIDGE = 1e-6  # of the diagonal: without noise an example would be labelled for its own sake


def label_next(
    pool: UnitRows,
    labelled: UnitRows,
    half_solve: Callable[[Array], Array],
    k: int,
    *,
    ridge: float,
    seed: int,
    progress: Progress,
) -> Ranking:
    """Positions of the pool in the order in which they should be labelled.

    Parameters
    ----------
    pool : UnitRows
        Unlabelled examples, relative to the centre of the labelled ones.
    labelled : UnitRows
        Labelled examples.
    half_solve : callable
        ``L^-1 B`` for a block B of n rows.
    k : int
        How many to label.
    ridge : float
        Of the kernel of the labelled examples.
    seed : int
        Seed of the landmarks.
    progress : Progress
        Where progress is reported.
    """
    q = len(pool)
    _check_count(k, q)
    Z = np.empty((len(labelled), q))
    with progress.phase("variance", q) as advance:
        for start in range(0, q, CHUNK_ROWS):
            part = slice(start, min(start + CHUNK_ROWS, q))
            Z[:, part] = half_solve(gram_block(labelled, pool[part]))
            advance(part.stop - part.start)
    h = pool.kernel.diagonal
    variance = np.maximum(h - np.einsum("ij,ij->j", Z, Z), 0.0)  # below 0 by rounding only

    def columns(positions: Index) -> Array:
        block = gram_block(pool, pool[positions])
        block[positions, np.arange(len(positions))] = h
        block -= Z.T @ Z[:, positions]
        return block

    m = min(q, max(MAX_LANDMARKS, k))
    with progress.phase("landmarks", m) as advance:
        features = landmark_features(columns, variance, m, seed=seed, scale=h, advance=advance)
    return _first(features, k, max(ridge, MIN_RIDGE * h), progress)


def label_next_lowrank(
    rows: UnitRows,
    n: int,
    k: int,
    *,
    ridge: float,
    landmarks: int = MAX_LANDMARKS,
    seed: int,
    progress: Progress,
) -> Ranking:
    """The same without a factor.

    Parameters
    ----------
    rows : UnitRows
        The n labelled examples, then the pool.
    n : int
        How many are labelled.
    k : int
        How many to label.
    ridge : float
        Above 0.
    landmarks : int
        Rank of the features.
    seed, progress
        As for `label_next`.
    """
    _check_count(k, len(rows) - n)
    diagonal = np.full(len(rows), rows.kernel.diagonal)
    m = min(len(rows), max(landmarks, k))
    with progress.phase("landmarks", m) as advance:
        joint = landmark_features(kernel_columns(rows), diagonal, m, seed=seed, advance=advance)
    with all_blas_threads():
        Phi = joint.Phi[:n]
        inner = (Phi / (joint.rest[:n, None] + ridge)).T @ Phi
        inner[np.diag_indices(len(inner))] += 1.0
        L, status = dpotrf(inner, lower=1, clean=1)
        M, inverted = dpotri(L, lower=1)
        root, rooted = dpotrf(np.tril(M) + np.tril(M, -1).T, lower=1, clean=1)
        if status or inverted or rooted:
            raise SingularKernelError(
                f"The system of the labelled examples is singular with {ridge=:g}. "
                "Use a larger ridge."
            )
        given = Features(joint.Phi[n:] @ root, joint.rest[n:], joint.landmarks)
    return _first(given, k, ridge, progress)


def _check_count(k: int, q: int) -> None:
    if not 1 <= k <= q:
        raise OptionError(f"k must be from 1 to the {q:,} examples of the pool; got {k!r}.")


def _first(features: Features, k: int, ridge: float, progress: Progress) -> Ranking:
    """The first k of a ranking by variance."""
    with progress.phase("choice", k) as advance:
        found = rank(
            features, None, ridge=ridge, enough=lambda order: len(order) >= k, advance=advance
        )
    return Ranking(found.order[:k], found.gains[:k])
