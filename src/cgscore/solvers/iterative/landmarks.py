r"""A low-rank approximation of H from some of its columns.

==========  ========  =====================================================================
symbol      shape     meaning
==========  ========  =====================================================================
J           m         landmarks: some rows, at random
L           m x m     Cholesky factor of ``H_JJ + ridge I``, in float64
F           n x m     ``H_:J L^-T``; ``F F^T`` takes the large eigenvalues of H
mu          scalar    mean of the diagonal of ``H - F F^T``
==========  ========  =====================================================================

They give a preconditioner,

    M = (F F^T + mu I)^-1 = (I - F (C C^T)^-1 F^T) / mu,   C C^T = mu I + F^T F,

which affects only how fast conjugate gradients converge, and the variance of any block given the
landmarks, ``H_bb - F_b F_b^T`` (`block_bounds`). F is stored in float32.

Rule for m: applying M takes 4 n m flops per vector against 2 n^2 for H, and making it n m^2.
``m = n / 8``, at most 2,500, costs a quarter of a product at small n and less later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from cgscore.errors import SingularKernelError
from cgscore.execution.blas import all_blas_threads
from cgscore.kernel import UnitRows, aligned, own_gram
from cgscore.solvers.cholesky.inplace import cholesky, right_solve, subtract_product
from cgscore.solvers.iterative.half_matrix import HalfMatrix
from cgscore.typing import Array, Matrix

MAX_LANDMARKS = 2500
ROWS_PER_LANDMARK = 8
MAX_SHIFT = 1e-3  # ridge above which the preconditioner is made without it


def count(n: int) -> int:
    """Number of landmarks for n rows."""
    return min(MAX_LANDMARKS, max(1, n // ROWS_PER_LANDMARK))


@dataclass(frozen=True)
class Landmarks:
    """Landmarks: J, L, F and the ridge."""

    J: NDArray[np.intp]
    L: Array
    F: Matrix
    ridge: float

    def __reduce__(self) -> tuple[Any, ...]:
        return _landmarks, (self.J, self.L, self.F, self.ridge)


def _landmarks(J: NDArray[np.intp], L: Array, F: Matrix, ridge: float) -> Landmarks:
    """Landmarks received from another process, with aligned arrays."""
    return Landmarks(aligned(J), aligned(L), aligned(F), ridge)


def landmarks_of(
    H: HalfMatrix, rows: UnitRows, ridge: float, rng: np.random.Generator
) -> Landmarks:
    """Landmarks drawn at random."""
    J = np.sort(rng.choice(H.n, count(H.n), replace=False))
    F = H.part(np.arange(H.n), J)
    if ridge:
        F[J, np.arange(len(J))] = H.diagonal + ridge
    with all_blas_threads():
        L = np.asfortranarray(own_gram(rows[J], ridge))
        factor(L)
        right_solve(L.astype(np.float32, order="F"), F)
    return Landmarks(J, L, F, ridge)


class Preconditioner:
    """Applies M to an (m, n) block of row vectors."""

    def __init__(self, H: HalfMatrix, landmarks: Landmarks) -> None:
        self._F = landmarks.F
        if landmarks.ridge > MAX_SHIFT:  # the large eigenvalues are H's: as little ridge as is safe
            self._F = H.part(np.arange(H.n), landmarks.J)
            with all_blas_threads():
                W = np.asfortranarray(landmarks.L @ landmarks.L.T)
                W[np.diag_indices(len(W))] -= landmarks.ridge - MAX_SHIFT
                factor(W)
                right_solve(W.astype(np.float32, order="F"), self._F)
        taken = float(np.einsum("ij,ij->", self._F, self._F, dtype=np.float64)) / H.n
        self.mu = max(H.diagonal + landmarks.ridge - taken, float(np.finfo(np.float32).eps))
        with all_blas_threads():
            C = np.asfortranarray(blas.ssyrk(1.0, self._F, trans=1, lower=1), dtype=np.float64)
            C[np.diag_indices(len(C))] += self.mu
            factor(C)
        self._C = C

    def __call__(self, V: Matrix) -> Matrix:
        """``V M``."""
        inner = np.zeros((len(V), len(self._C)), np.float32, order="F")
        out: Matrix = V.copy(order="F")
        with all_blas_threads():
            subtract_product(V, self._F, inner, transposed=False)
            inner = np.asfortranarray(-inner, dtype=np.float64)  # V F
            right_solve(self._C, inner)
            right_solve(self._C, inner, transposed=False)
            subtract_product(inner.astype(np.float32, order="F"), self._F, out)
        np.divide(out, np.float32(self.mu), out=out)
        return out


def factor(A: Matrix) -> None:
    """The Cholesky factor in place of A."""
    if cholesky(A):
        raise SingularKernelError(
            "The kernel matrix of a part of the examples has no Cholesky factor to working "
            "precision: rows are nearly identical. Use a ridge, for example ridge=1e-6; "
            "method='exact' names the rows."
        )
    A[:] = np.tril(A)
