"""``H + ridge I`` as conjugate gradients need it: products, a preconditioner, solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cgscore.execution.blas import all_blas_threads
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import ClusterExecutor, Executor
from cgscore.execution.progress import Advance, Progress
from cgscore.kernel import UnitRows, gram_block
from cgscore.solvers.cholesky.factor import kernel_flops
from cgscore.solvers.iterative.conjugate_gradients import BLOCK_WIDTH, Apply, conjugate_gradients
from cgscore.solvers.iterative.device import OnDevice
from cgscore.solvers.iterative.distributed import DistributedKernel
from cgscore.solvers.iterative.half_matrix import HalfMatrix, InMemoryKernel, OnTheFlyKernel
from cgscore.solvers.iterative.landmarks import Landmarks, Preconditioner, landmarks_of
from cgscore.typing import Array, Index, Matrix

MAX_PRODUCTS = 1000  # products after which conjugate gradients give up
#: Iterations that a digit of the residual takes, for estimates of time: 8 to 9 of 20,000 and 50,000
#: images, 14 of 60,000 with near-duplicates, and fewer with a ridge.
ITERATIONS_PER_DIGIT = 9


def system_of(
    rows: UnitRows,
    ridge: float,
    storage: str,
    rng: np.random.Generator,
    progress: Progress,
    store: StepStore | None = None,
    executor: Executor | None = None,
) -> tuple[System, Landmarks]:
    """The system of all rows.

    H is in ``"memory"``, ``"formed"`` for every product, on a device (``"torch:cuda"``), or on the
    workers of a ``"cluster"``, which is the executor then.
    """
    n, p = rows.centred.shape
    with progress.phase("kernel", kernel_flops(n, p) / 2) as advance:
        flops_per_entry = kernel_flops(n, p) / 2 / (n * (n + 1) / 2)
        H = _matrix(rows, storage, lambda entries: advance(flops_per_entry * entries), executor)
        landmarks = landmarks_of(H, rows, ridge, rng)
    return System(rows, ridge, H, Preconditioner(H, landmarks), progress, store), landmarks


def expected_iterations(tolerance: Array) -> Array:
    """Iterations until residuals are below each tolerance, for estimates of time."""
    return np.asarray(-ITERATIONS_PER_DIGIT * np.log10(tolerance))


def solve_flops(n: int, tolerance: Array) -> float:
    """Expected arithmetic of solving a system of n rows for each tolerance."""
    return 2.0 * n**2 * float(expected_iterations(tolerance).sum())


def _matrix(
    rows: UnitRows, storage: str, advance: Callable[[float], None], executor: Executor | None
) -> HalfMatrix:
    if storage == "memory":
        return InMemoryKernel(rows, advance)
    if storage == "formed":
        return OnTheFlyKernel(rows)
    if isinstance(executor, ClusterExecutor):
        return DistributedKernel(rows, executor, advance)
    return OnDevice(rows, storage.removeprefix("torch:"), advance)


@dataclass(frozen=True)
class System:
    """``H + ridge I`` as conjugate gradients need it."""

    rows: UnitRows
    ridge: float
    H: HalfMatrix
    precondition: Apply
    progress: Progress
    store: StepStore | None

    def apply(self, V: Matrix) -> Matrix:
        """``V (H + ridge I)`` in float32."""
        image = self.H.product(V)
        return image + np.float32(self.ridge) * V if self.ridge else image

    def solve(
        self, B: Array, tolerance: Array, name: str, limit: int = MAX_PRODUCTS
    ) -> tuple[Array, Array, Array]:
        """Solutions and residuals for the columns of B, `BLOCK_WIDTH` at a time, and iterations."""
        n, m = B.shape
        X, residual, counts = np.empty((n, m)), np.empty((n, m)), np.empty(m)
        with self.progress.phase("solve", solve_flops(n, tolerance)) as advance:
            for start in range(0, m, BLOCK_WIDTH):
                part = slice(start, min(start + BLOCK_WIDTH, m))
                solution = conjugate_gradients(
                    self.apply,
                    self.precondition,
                    np.array(B[:, part].T, np.float32, order="F"),
                    tolerance[part],
                    limit,
                    _fraction_reporter(advance, solve_flops(n, tolerance[part])),
                    self.store,
                    f"{name}-{start // BLOCK_WIDTH}",
                )
                X[:, part], residual[:, part] = solution.X.T, solution.residual.T
                counts[part] = solution.iterations
        return X, residual, counts

    def residual(self, alpha: Array, Y: Array, checked: Index) -> float:
        """Largest relative residual over the classes, in float64, on some rows."""
        total = self.ridge * alpha[checked]
        with all_blas_threads():
            for start in range(0, len(self.rows), 4096):
                part = slice(start, start + 4096)
                total += gram_block(self.rows[checked], self.rows[part]) @ alpha[part]
        missing = Y[checked] - total
        size = np.maximum(np.linalg.norm(Y[checked], axis=0), np.finfo(np.float64).tiny)
        return float((np.linalg.norm(missing, axis=0) / size).max())


def _fraction_reporter(advance: Advance, total: float) -> Callable[[float], None]:
    """A function of the fraction done that advances a phase of the given total."""
    done = 0.0

    def report(fraction: float) -> None:
        nonlocal done
        advance(max(0.0, fraction * total - done))
        done = max(done, fraction * total)

    return report
