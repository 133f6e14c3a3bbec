r"""Lower bounds of d from blocks of H.

``1 / d_i`` is the variance of example i given all others. Given only some of them it is larger, so
d of a part is a lower bound. A part here is a block of examples together with the landmarks J:

    E = H_bb + ridge I - F_b F_b^T = L_E L_E^T      the block given the landmarks
    d_i = |L_E^-1 e_i|^2                            i in the block
    d_j = |g_j|^2 + |L_E^-1 F_b g_j|^2              j in J,  g_j = L^-1 e_j

Random blocks are low by nearly the same factor for everyone; blocks of similar examples see
near-duplicates, which random blocks miss. Near-duplicates that both kinds tear apart lie at a cut
between two similar blocks; the rows at each cut are a further, small block, its seam. Rows with an
almost opposite one are blocks of their own where they are few (`opposite_blocks`). Each landmark is
done with the block it falls into.
Blocks are done in float32, and again in float64 where a pivot says that float32 is not enough.

Both kinds of blocks of b rows cost ``4 n b^2 / 3`` flops. They are given a share
(`BLOCK_FLOPS_SHARE`) of the ``60 n^2`` flops that thirty products take for each of some 75 vectors,
hence b grows as the root of n; the number of blocks is the nearest power of two, and 1 for fewer
than `2 MIN_BLOCK_ROWS`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack, solve_triangular

from cgscore.execution.blas import all_blas_threads, one_blas_thread
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor
from cgscore.execution.machine import cores
from cgscore.execution.progress import Advance
from cgscore.kernel import UnitRows, gram_block
from cgscore.solvers.cholesky.inplace import right_solve, subtract_product
from cgscore.solvers.iterative.half_matrix import HalfMatrix, OnTheFlyKernel
from cgscore.solvers.iterative.landmarks import Landmarks, factor
from cgscore.solvers.tiles import cuts
from cgscore.typing import Array, Index, Matrix

BLOCK_FLOPS_SHARE = 0.15
MIN_BLOCK_ROWS = 1200  # in smaller blocks near-duplicates are parted too often
MIN_OPPOSITE_COSINE = 0.99  # -cos of the angle between rows that count as opposite, to 8 degrees
MAX_PAIRS_PER_COLUMN = 4  # above this multiple of p, opposite rows determine each other

_CHUNK = 1024  # rows of a block whose products are formed at a time
_ROUNDING = 1e-4  # of float32 in the squared length of a sum of two unit rows, with room
_MIN_PIVOT = 1e-4  # pivots of a block in float32 below this share of the diagonal are not trusted


def parts(n: int) -> int:
    """Blocks of each kind for n rows."""
    if n < 2 * MIN_BLOCK_ROWS:
        return 1
    b = math.sqrt(BLOCK_FLOPS_SHARE * 60 * 75 * n * 3 / 4)
    return int(2 ** max(0, round(math.log2(max(1.0, n / b)))))


def random_blocks(n: int, count: int, rng: np.random.Generator) -> list[Index]:
    """All n rows in `count` blocks at random, each in ascending order."""
    return [np.sort(part) for part in np.array_split(rng.permutation(n), count)]


def similar_blocks(rows: UnitRows, count: int) -> list[Index]:
    """Blocks of similar rows: halved again and again at the median of their main direction.

    `count` is rounded up to a power of two.
    """
    return similar_blocks_and_seams(rows, count)[0]


def similar_blocks_and_seams(rows: UnitRows, count: int) -> tuple[list[Index], list[Index]]:
    """Blocks of similar rows, and the rows next to each cut between them.

    Near-duplicates on two sides of a cut are close to it, hence both in its seam: the
    ``n / (4 count)`` rows nearest to the median on either side.

    Opposite rows are near-duplicates too: ``H_ij = g / 4 + g arcsin(g) / (2 pi)``, where the first
    term has rank p and the second is the same for x and -x. Unless all rows lie on one side of the
    origin, the cut is at the median distance from it, which is the same for both.
    """
    X, blocks = rows.centred, [np.arange(len(rows))]
    seams: list[Index] = []
    opposite = _around_the_origin(rows)
    width = max(1, len(rows) // (4 * count))
    while len(blocks) < count:
        with all_blas_threads():
            origin = -rows.centre if opposite else None
            directions = np.column_stack([main_direction(X, block, origin) for block in blocks])
            position = X @ directions
            if opposite:
                position = np.abs(position + rows.centre @ directions)
        halves = []
        for number, block in enumerate(blocks):
            order = block[np.argsort(position[block, number], kind="stable")]
            middle = len(block) // 2
            halves += [np.sort(order[:middle]), np.sort(order[middle:])]
            seams.append(np.sort(order[max(0, middle - width) : middle + width]))
        blocks = halves
    return blocks, seams


def opposite_blocks(rows: UnitRows, similar: list[Index], seams: list[Index]) -> list[Index]:
    """Rows that have an almost opposite one in a block or a seam, pairs together.

    With f the Gaussian process of covariance H, ``f(x) - f(-x)`` is linear in x. More than p pairs
    determine that linear function, and with it each row of every pair from the other one; fewer
    determine a part. So d of such a row depends on how many other pairs its block holds, and two
    bounds from blocks with few of them agree and are both too low, by a factor of 10,000 and more.
    The blocks returned here hold as many pairs as they can; their bounds may still be too low.
    Where the similar blocks hold `MAX_PAIRS_PER_COLUMN` times p pairs, none are needed.
    """
    if len(similar) == 1 or not _around_the_origin(rows):
        return []
    n, p = rows.centred.shape
    cosines, partner = np.full(n, -MIN_OPPOSITE_COSINE), np.full(n, -1)
    directions = _random_directions(p)
    for block in [*similar, *seams]:
        X = (rows.centred[block] + rows.centre).astype(np.float32)
        with all_blas_threads():
            Z = X @ directions
        candidates = _maybe_opposite(Z)
        for chunk in np.array_split(candidates, max(1, -(-len(candidates) // _CHUNK))):
            with all_blas_threads():
                g = X[chunk] @ X.T
            nearest = g.argmin(axis=1)
            cosine, positions = g[np.arange(len(chunk)), nearest], block[chunk]
            nearer = cosine < cosines[positions]
            cosines[positions[nearer]] = cosine[nearer]
            partner[positions[nearer]] = block[nearest[nearer]]
    paired = np.flatnonzero(partner >= 0)
    if not 2 < len(paired) < 2 * MAX_PAIRS_PER_COLUMN * p * len(similar):
        return []
    first = np.minimum(paired, partner[paired])
    paired = paired[np.argsort(first, kind="stable")]
    count = -(-len(paired) * len(similar) // n)
    return [np.sort(part) for part in np.array_split(paired, count)]


def _random_directions(p: int) -> NDArray[np.float32]:
    """Orthonormal columns, a sixteenth as many as there are coordinates."""
    Q = np.random.default_rng(0).standard_normal((p, min(p, max(32, p // 16))))
    return np.linalg.qr(Q)[0].astype(np.float32)


def _maybe_opposite(Z: NDArray[np.float32]) -> Index:
    """Rows that may have an opposite one, from their orthogonal projections Z.

    A projection shortens: rows whose cosine is below -c, with c = `MIN_OPPOSITE_COSINE`, have
    ``|z_i + z_j|^2 <= |x_i + x_j|^2 <= 2 - 2 c``. Most rows fail this, at a sixteenth of the cost
    of their cosines.
    """
    norms = np.einsum("ij,ij->i", Z, Z)[:, None]
    ones = np.ones_like(norms)
    left, right = np.hstack([2 * Z, norms, ones]), np.hstack([Z, ones, norms])
    nearest = np.empty(len(Z), np.float32)
    for start in range(0, len(Z), _CHUNK):
        with all_blas_threads():
            squares = left[start : start + _CHUNK] @ right.T
        nearest[start : start + _CHUNK] = squares.min(axis=1)
    return np.flatnonzero(nearest <= 2 - 2 * MIN_OPPOSITE_COSINE + _ROUNDING)


def _around_the_origin(rows: UnitRows) -> bool:
    """Whether rows lie on more than one side of the origin, so that some may be opposite."""
    with all_blas_threads():
        return bool((rows.centred @ rows.centre).min() <= -(rows.centre @ rows.centre))


def main_direction(X: Array, block: Index, origin: Array | None) -> Array:
    """The leading principal direction of some of a block's rows, by power iteration.

    About their mean, or about a given origin.
    """
    X_sample = X[block[:: max(1, len(block) // 1000)]]
    X_sample = X_sample - (X_sample.mean(axis=0) if origin is None else origin)
    direction = X_sample[np.argmax(np.einsum("ij,ij->i", X_sample, X_sample))]
    for _ in range(10):
        direction = X_sample.T @ (X_sample @ direction)
        direction /= np.linalg.norm(direction) or 1.0
    return np.asarray(direction)


class Bounds:
    """Lower bounds of d, block by block; finished blocks are saved in and loaded from `store`.

    Attributes
    ----------
    float64_blocks : int
        Blocks computed in float64 because float32 was not precise enough.
    """

    def __init__(
        self,
        H: HalfMatrix,
        rows: UnitRows,
        landmarks: Landmarks,
        store: StepStore | None = None,
        threads: int | None = None,
    ) -> None:
        self._H, self._rows, self._landmarks, self._store = H, rows, landmarks, store
        self._diagonal = rows.kernel.diagonal
        self._threads = threads or cores()
        self.float64_blocks = 0

    def of(
        self, kind: str, blocks: list[Index], advance: Advance, executor: Executor | None = None
    ) -> Array:
        """The bound of every example; blocks are computed here one by one, or by `executor`.

        The largest bound where blocks overlap, 0 for examples in no block.
        """
        d = np.zeros(len(self._rows))
        missing = []
        for number, block in enumerate(blocks):
            name = f"{kind}-{len(blocks)}-{number}"
            if bound := self._store.load(name) if self._store else None:
                d[block] = np.maximum(d[block], bound["d"])
                self.float64_blocks += int(bound["again"])
                advance(float(len(block)) ** 3, before=True)
            else:
                missing.append((name, block))
        for (name, block), bound in self._compute(missing, executor):
            if self._store:
                self._store.save(name, **bound)
            d[block] = np.maximum(d[block], bound["d"])
            self.float64_blocks += int(bound["again"])
            advance(float(len(block)) ** 3)
        return d

    def bound(self, block: Index) -> dict[str, Array]:
        """The bound of a block, and whether it was computed in float64."""
        values = self._block(block, np.float32)
        in_float64 = values is None
        if values is None:
            values = self._block(block, np.float64)
        return {"d": np.asarray(values), "again": np.array(int(in_float64))}

    def _compute(
        self, blocks: list[tuple[str, Index]], executor: Executor | None
    ) -> Iterator[tuple[tuple[str, Index], dict[str, Array]]]:
        if executor is None:
            for name, block in blocks:
                yield (name, block), self.bound(block)
            return
        landmarks = self._landmarks
        shared = Landmarks(landmarks.J, landmarks.L, landmarks.F[:0], landmarks.ridge), self._rows
        with closing(
            executor.map(bound_of_block, shared, [block for _, block in blocks])
        ) as results:
            for position, bound in results:
                yield blocks[position], bound

    def _block(self, block: Index, dtype: type) -> Array | None:
        """D of a block, or None where float32 is not precise enough."""
        landmarks, ridge = self._landmarks, self._landmarks.ridge
        chosen = np.isin(block, landmarks.J, assume_unique=True)
        others, landmark_positions = block[~chosen], np.searchsorted(landmarks.J, block[chosen])
        F: Matrix
        A: Matrix
        if not len(others):
            F, A = np.empty((0, len(landmarks.J)), dtype), np.empty((0, 0), dtype)
        elif dtype == np.float32:
            F, A = np.asfortranarray(landmarks.F[others]), self._H.part(others, others)
        else:
            F, A = self._precise(others, landmarks.J), self._precise(others, others)
        np.fill_diagonal(A, self._diagonal + ridge)
        with all_blas_threads():
            return self._solved(chosen, landmark_positions, F, A)

    def _solved(
        self, chosen: NDArray[np.bool_], landmark_positions: Index, F: Matrix, A: Matrix
    ) -> Array | None:
        """D of a block: landmarks where `chosen`, at `landmark_positions` of J, and other rows.

        A is H of the other rows. F is theirs if A is in float32; in float64 it is H between them
        and the landmarks.
        """
        landmarks, ridge, dtype = self._landmarks, self._landmarks.ridge, A.dtype.type
        G = np.zeros((len(landmarks.J), len(landmark_positions)))
        G[landmark_positions, np.arange(len(landmark_positions))] = 1.0
        G = solve_triangular(landmarks.L, G, lower=True)
        d = np.empty(len(chosen))
        d[chosen] = np.einsum("ij,ij->j", G, G)
        if not len(A):
            return d
        if dtype == np.float64:
            right_solve(landmarks.L, F)
        syrk, potrf, trtri = (
            (blas.dsyrk, lapack.dpotrf, lapack.dtrtri)
            if dtype == np.float64
            else (blas.ssyrk, lapack.spotrf, lapack.strtri)
        )
        A = syrk(-1.0, F, 1.0, A, lower=1, overwrite_c=1)
        if dtype == np.float64:
            factor(A)
        else:
            A, status = potrf(A, lower=1, clean=1, overwrite_a=1)
            if status or np.diagonal(A).min() ** 2 <= _MIN_PIVOT * (self._diagonal + ridge):
                return None
        Z, status = trtri(A, lower=1, overwrite_c=1)
        if status:
            raise RuntimeError(f"LAPACK trtri returned status {status}")
        d[~chosen] = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
        V: Matrix = np.zeros((len(A), len(landmark_positions)), dtype, order="F")
        U: Matrix = np.zeros_like(V)
        subtract_product(F, np.asfortranarray(G, dtype=dtype), V, transposed=False)
        subtract_product(Z, V, U, transposed=False)  # L_E^-1 F_b g_j
        d[chosen] += np.einsum("ij,ij->j", U, U, dtype=np.float64)
        return d

    def _precise(self, rows: Index, columns: Index) -> Matrix:
        """A part of H in float64, formed anew."""
        A = np.empty((len(rows), len(columns)), order="F")
        left, right = self._rows[rows], self._rows[columns]

        def fill(cut: slice) -> None:
            A[:, cut] = gram_block(left, right[cut])

        with one_blas_thread(), ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(fill, cuts(0, len(columns))))
        return A


def bound_of_block(shared: tuple[Landmarks, UnitRows], block: Index) -> dict[str, Array]:
    """The task: the bound of a block by one thread, with its rows of F formed anew."""
    landmarks, rows = shared
    both = np.union1d(block, landmarks.J)
    local_rows, J = rows[both], np.searchsorted(both, landmarks.J)
    H = OnTheFlyKernel(local_rows, threads=1)
    F = H.part(np.arange(len(both)), J)
    F[J, np.arange(len(J))] = rows.kernel.diagonal + landmarks.ridge
    right_solve(landmarks.L.astype(np.float32, order="F"), F)
    bounds = Bounds(H, local_rows, Landmarks(J, landmarks.L, F, landmarks.ridge), threads=1)
    return bounds.bound(np.searchsorted(both, block))


def block_bytes(n: int, p: int, m: int) -> int:
    """Memory of such a task for n rows of p numbers and m landmarks, at most in float64."""
    b = -(-n // parts(n)) + m
    return 16 * b**2 + 12 * b * p + 12 * b * m
