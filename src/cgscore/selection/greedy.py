r"""A ranking by greedy choice: the example that lowers the error of kernel regression most, next.

============  ========  =====================================================================
symbol        shape     meaning
============  ========  =====================================================================
Phi           n x m     features; ``Phi Phi^T`` stands for H (`selector.py`)
noise         n         ``rest + ridge``: what the features leave of the diagonal, and the ridge
M             m x m     ``(I + Phi_S^T diag(noise_S)^-1 Phi_S)^-1`` for the chosen examples S
V             n x n     ``Phi M Phi^T``, the kernel given the chosen examples; never formed
E             n x k     error of the regression on S, at all examples; targets at first
R             n x k     ``V E``
v, q          n         ``V_jj`` and ``|V_j|^2``
G             m x m     ``Phi^T Phi``
============  ========  =====================================================================

With ``s_j = v_j + noise_j``, taking j next lowers the squared error of all examples by

    gain_j = 2 R_j . E_j / s_j - q_j |E_j|^2 / s_j^2

and changes ``E`` by ``- V_j E_j^T / s_j`` and ``V`` by ``- V_j V_j^T / s_j``. That is the
complexity gap run forwards. A wrong label predicts nobody else, and is taken late. Where there are
no targets, the fall of the total predictive variance, ``q_j / s_j``, takes the place of the gain:
which examples to label next.

**Blocks.** One step at a time costs ``4 n m`` flops in products of a matrix and two vectors, which
wait for memory. So after the first `ONE_BY_ONE` picks the examples with the largest gains are set
apart, `CANDIDATES` for every pick of a block, and among them up to `BLOCK` are taken one at a time,
with gains that are exact: for candidates C the matrices ``V_CC`` and ``(V^2)_CC``, with the rows of
E and R, are closed under the step. Then all examples are brought up to date at once, for a block J
with ``V_JJ + diag(noise_J) = L L^T``:

    U = Phi T,   T = M Phi_J^T L^-T,   X = V U = Phi M G T,   W = T^T G T,   Z = L^-1 E_J
    E -= U Z,    R -= X Z + U (L^-1 R_J - W Z),    M -= T T^T,
    v_j -= |U_j|^2,   q_j -= 2 U_j . X_j - U_j W U_j

A block ends early where the best candidate falls below the best gain that was outside of them when
it began. Gains can also rise, so that this is an approximation beside that of the rank. A block of
one is the plain method.

After every stretch of ``STRETCH m`` picks all of it is computed anew from the chosen examples, in
about ``4 n m^2`` flops. So rounding does not add up, and a run that resumes there has the same
bits.

Cost of a pick: ``4 n m + 2 n (B + 3 k)`` flops for blocks of B and n examples that are not taken
yet; memory ``8 n (2 m + 3 k)`` bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from cgscore.errors import SingularKernelError
from cgscore.execution.blas import all_blas_threads, one_blas_thread
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.progress import Advance, ignore
from cgscore.solvers.lowrank.pivoted_cholesky import Features
from cgscore.typing import Array, Index

BLOCK = 64  # picks between two updates of all examples, at most
ONE_BY_ONE = 256  # picks at the beginning that are taken one at a time: they change most
GROWTH = 16  # after them a block is at most 1 / GROWTH of what is taken
CANDIDATES = 4  # for every pick of a block
STRETCH = 8  # picks for every feature, after which the state is computed anew
CHUNK_ROWS = 4096  # rows brought up to date at once
#: Numbers of Phi up to which BLAS gets one thread: its threads wait for each other thousands of
#: times, and on a busy machine each wait costs more than a second thread saves.
MAX_ONE_THREAD = 4_000_000


@dataclass(frozen=True)
class Ranking:
    """Examples in the order in which they were taken.

    Attributes
    ----------
    order : (r,) array
        Positions.
    gains : (r,) array
        By how much each lowered the squared error (or the variance) when it was taken.
    """

    order: Index
    gains: Array

    @property
    def useful(self) -> int:
        """How many were taken before no gain was positive."""
        spent = np.flatnonzero(self.gains <= 0)
        return int(spent[0]) if len(spent) else len(self.gains)


class _Problem:
    """What does not change: features, targets, noise, G and ``Phi^T Y``."""

    def __init__(self, features: Features, Y: Array | None, ridge: float) -> None:
        self.Phi, self.noise = features.Phi, features.rest + ridge
        self.variance = Y is None
        self.Y = np.empty((len(self.Phi), 0)) if Y is None else Y
        self.G = self.Phi.T @ self.Phi
        self.PY = self.Phi.T @ self.Y


class _State:
    """What changes as examples are taken (see the table above), at the examples left open.

    Examples that are chosen have no gain, and all sums over them are in G: they can be left out.

    Parameters
    ----------
    problem : _Problem
        All examples.
    chosen : (r,) array
        Positions taken so far.
    is_open : (n,) mask
        Examples whose gains are wanted; the state has a row for each.
    """

    def __init__(self, problem: _Problem, chosen: Index, is_open: NDArray[np.bool_]) -> None:
        self.G, self.M = problem.G, _posterior(problem, chosen)
        self.Phi, self.noise, Y = problem.Phi, problem.noise, problem.Y
        weighted = self.Phi[chosen].T @ (Y[chosen] / self.noise[chosen, None])
        b = self.M @ weighted  # the regression on the chosen, as weights of features
        MP, MGM = self.M @ (problem.PY - self.G @ b), self.M @ self.G @ self.M
        if not is_open.all():
            self.Phi, self.noise, Y = self.Phi[is_open], self.noise[is_open], Y[is_open]
        n = len(self.Phi)
        self.E, self.R, self.v, self.q = Y.copy(), np.empty_like(Y), np.empty(n), np.empty(n)
        for part in _chunks(n):
            rows = self.Phi[part]
            self.E[part] -= rows @ b
            self.R[part] = rows @ MP
            self.v[part] = np.einsum("ij,ij->i", rows @ self.M, rows)
            self.q[part] = np.einsum("ij,ij->i", rows @ MGM, rows)

    def gains(self, variance: bool) -> Array:
        """Of every row."""
        return _gains(self.E, self.R, self.v, self.q, self.noise, variance)

    def take(self, J: Index) -> None:
        """Bring all rows up to date for a block of rows that are taken."""
        A = self.M @ self.Phi[J].T
        S = self.Phi[J] @ A
        S[np.diag_indices(len(J))] += self.noise[J]
        L, status = dpotrf(S, lower=1, clean=1, overwrite_a=1)
        if status:
            raise SingularKernelError(
                "The system of a block of chosen examples is singular. Use a larger ridge."
            )
        T = solve_triangular(L, A.T, lower=True, check_finite=False).T
        GT = self.G @ T
        W, Z = T.T @ GT, solve_triangular(L, self.E[J], lower=True, check_finite=False)
        Q = solve_triangular(L, self.R[J], lower=True, check_finite=False) - W @ Z
        both = np.hstack([T, self.M @ GT])
        for part in _chunks(len(self.v)):
            UX = self.Phi[part] @ both
            U, X = UX[:, : len(J)], UX[:, len(J) :]
            self.E[part] -= U @ Z
            self.R[part] -= X @ Z + U @ Q
            self.v[part] -= np.einsum("ij,ij->i", U, U)
            self.q[part] -= np.einsum("ij,ij->i", 2 * X - U @ W, U)
        self.M -= T @ T.T

    def picks(self, C: Index, count: int, least: float, variance: bool) -> tuple[Index, Array]:
        """Up to `count` of the candidates C, one at a time, and their gains.

        Ends, after the first, before a gain that is below `least`.
        """
        A = self.M @ self.Phi[C].T
        V, V2 = self.Phi[C] @ A, A.T @ (self.G @ A)
        E, R, v, q, noise = self.E[C], self.R[C], self.v[C], self.q[C], self.noise[C]
        is_open = np.ones(len(C), bool)
        U, X, W = (np.zeros((len(C), count)) for _ in range(3))
        picks, gains = np.empty(count, np.intp), np.empty(count)
        for t in range(count):
            gain = np.where(is_open, _gains(E, R, v, q, noise, variance), -np.inf)
            j = int(np.argmax(gain))
            if t and gain[j] < least:
                return C[picks[:t]], gains[:t]
            picks[t], gains[t], is_open[j] = j, gain[j], False
            # columns j of V and V^2 as they are after t picks
            x = V2[:, j] - X[:, :t] @ U[j, :t] - U[:, :t] @ W[j, :t]
            u = V[:, j] - U[:, :t] @ U[j, :t]
            s = u[j] + noise[j]
            e, r, size = E[j] / s, R[j] / s, x[j] / s
            R -= np.outer(x, e) + np.outer(u, r - size * e)
            E -= np.outer(u, e)
            u, x = u / np.sqrt(s), x / np.sqrt(s)
            U[:, t], X[:, t], W[:, t] = u, x, x - size * u
            v -= u * u
            q -= (2 * x - size * u) * u
        return C[picks], gains


def _gains(E: Array, R: Array, v: Array, q: Array, noise: Array, variance: bool) -> Array:
    s = v + noise
    if variance:
        return q / s
    gains: Array = (2 * np.einsum("ij,ij->i", R, E) - q * np.einsum("ij,ij->i", E, E) / s) / s
    return gains


def rank(
    features: Features,
    Y: Array | None,
    *,
    ridge: float,
    enough: Callable[[Index], bool] | None = None,
    candidates: NDArray[np.bool_] | None = None,
    block: int = BLOCK,
    store: StepStore | None = None,
    advance: Advance = ignore,
) -> Ranking:
    """Examples in the order of greedy choice.

    Parameters
    ----------
    features : Features
        Of all examples.
    Y : (n, k) array, optional
        Targets; without them the total predictive variance takes the place of the error.
    ridge : float
        Above 0.
    enough : callable, optional
        Whether the positions taken so far are enough; by default all are taken.
    candidates : (n,) mask, optional
        Examples that may be taken; all by default.
    block : int
        Picks between two updates of all examples.
    store : StepStore, optional
        Where finished stretches are saved, and found again.
    advance : callable
        Advances a phase of n picks.
    """
    is_open = np.ones(len(features), bool) if candidates is None else candidates.copy()
    order, gains = np.empty(int(is_open.sum()), np.intp), np.empty(int(is_open.sum()))
    stretch = int(STRETCH * max(features.Phi.shape[1], block))
    done = enough or (lambda _: False)
    taken = 0
    small = features.Phi.size <= MAX_ONE_THREAD
    with one_blas_thread() if small else all_blas_threads():
        problem = _Problem(features, Y, ridge)
        while taken < len(order) and not done(order[:taken]):
            stop = min(len(order), taken + stretch)
            step = None if store is None else store.load(f"stretch-{taken}")
            if step is None:
                found = _stretch(problem, order, gains, taken, stop, is_open, block, done, advance)
                if store is not None and found == stop:
                    part = slice(taken, stop)
                    store.save(f"stretch-{taken}", order=order[part], gains=gains[part])
            else:
                order[taken:stop], gains[taken:stop], found = step["order"], step["gains"], stop
                advance(stop - taken, before=True)
            is_open[order[taken:found]] = False
            taken = found
    return Ranking(order[:taken].copy(), gains[:taken].copy())


def _stretch(
    problem: _Problem,
    order: Index,
    gains: Array,
    taken: int,
    stop: int,
    is_open: NDArray[np.bool_],
    block: int,
    done: Callable[[Index], bool],
    advance: Advance,
) -> int:
    """Fill `order` and `gains` from `taken` up to `stop`, or until it is done; return the end."""
    state, rows = _State(problem, order[:taken], is_open), np.flatnonzero(is_open)
    row_is_open = np.ones(len(rows), bool)
    while taken < stop:
        gain = np.where(row_is_open, state.gains(problem.variance), -np.inf)
        count = 1 if taken < ONE_BY_ONE else min(block, taken // GROWTH, stop - taken)
        C, least = _largest(gain, min(CANDIDATES * block, int(row_is_open.sum())))
        J, found = state.picks(C, count, least, problem.variance)
        part = slice(taken, taken + len(J))
        order[part], gains[part] = rows[J], found
        row_is_open[J] = False
        taken = part.stop
        advance(len(J))
        if done(order[:taken]):
            break
        if taken < stop:
            state.take(J)
    return taken


def _posterior(problem: _Problem, chosen: Index) -> Array:
    """M for the chosen examples; empty for features of rank 0, which LAPACK does not take."""
    Phi = problem.Phi[chosen]
    if not Phi.shape[1]:
        return np.empty((0, 0))
    inner = (Phi / problem.noise[chosen, None]).T @ Phi
    inner[np.diag_indices(len(inner))] += 1.0
    L, status = dpotrf(inner, lower=1, clean=1, overwrite_a=1)
    M, inverted = dpotri(L, lower=1, overwrite_c=1)
    if status or inverted:
        raise SingularKernelError(
            "The system of the chosen examples is singular. Use a larger ridge."
        )
    symmetric: Array = np.tril(M) + np.tril(M, -1).T
    return symmetric


def _largest(values: Array, count: int) -> tuple[Index, float]:
    """Positions of the largest values, ascending, and the largest of the other values."""
    if count >= len(values):
        return np.arange(count), -np.inf
    by_value = np.argpartition(-values, count)
    return np.sort(by_value[:count]), float(values[by_value[count]])


def _chunks(n: int) -> list[slice]:
    return [slice(start, min(start + CHUNK_ROWS, n)) for start in range(0, n, CHUNK_ROWS)]
