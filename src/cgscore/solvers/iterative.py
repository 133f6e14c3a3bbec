r"""alpha and d of all n examples without a factor of H, and how good they are.

==========  =======  =========================================================================
symbol      shape    meaning
==========  =======  =========================================================================
H           n x n    kernel matrix in float32, half of it kept in memory or formed as needed
Y           n x k    targets; alpha solves ``(H + ridge I) alpha = Y``
x_i         n        column i of the inverse, for the audit examples i
r, r_i      n        residuals ``Y - H alpha`` and ``e_i - H x_i``
d', d''     n        lower bounds of d from random blocks and from blocks of similar examples
==========  =======  =========================================================================

- alpha and the x_i come from one block of conjugate gradients. At the audit examples errors of the
  iteration enter in second order only: ``d_i = x_ii + x_i.r_i`` and ``alpha_i + x_i.r`` differ from
  the truth by ``r_i.H^-1 r_i`` and ``r_i.H^-1 r``.
- d is d', d'' calibrated by the d_i (`audit`).
- The residual of alpha is measured in float64 on some rows. If H in float32 limits it, alpha is
  refined with products formed in float64.

Cost: n^2 p flops to form H, 2 n^2 a vector and iteration, and some of that for the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import ConvergenceError
from cgscore.execution.progress import Advance, Progress
from cgscore.kernel import Array, UnitRows, gram_block
from cgscore.solvers.audit import Audited, calibrate, measure
from cgscore.solvers.blocks import Bounds, parts, random_blocks, similar_blocks
from cgscore.solvers.conjugate import Apply, conjugate_gradients
from cgscore.solvers.device import OnDevice
from cgscore.solvers.exact import kernel_flops
from cgscore.solvers.halfmatrix import Formed, HalfMatrix, Index, Kept
from cgscore.solvers.inplace import Matrix
from cgscore.solvers.nystrom import Landmarks, Preconditioner
from cgscore.solvers.nystrom import count as landmark_count
from cgscore.solvers.product import kernel_product
from cgscore.solvers.storage import Keeper

EXAMPLES = 64  # audit examples
TARGET = 0.995  # rank correlation below which a run says so
ALPHA, AUDIT = 3e-4, 3e-2  # relative residuals at which systems have converged
ROUGH = 2e-3  # residual in float64 above which alpha is refined
LIMIT = 1000  # products after which conjugate gradients give up
CHECKED = 256  # rows on which residuals are measured in float64
EXPECTED = 30  # iterations, for the estimate of time left
WIDTH = 128  # systems solved at once


@dataclass(frozen=True)
class Outcome:
    """What `solve` found: alpha (n, k), d (n,), the audit, and facts about the run."""

    alpha: Array
    d: Array
    audit: Mapping[str, Any]
    facts: Mapping[str, Any]


def bytes_kept(n: int, p: int, k: int) -> int:
    """Memory with half of H in memory, above the rows: H, the rows in float32, and `_vectors`."""
    return 2 * n**2 + 4 * n * p + _vectors(n, k)


def bytes_formed(n: int, p: int, k: int) -> int:
    """Memory when H is formed for every product."""
    return 4 * n * p + _vectors(n, k)


def _vectors(n: int, k: int) -> int:
    """The preconditioner, six blocks of vectors, and the largest block of H in float64."""
    width = min(WIDTH, k + EXAMPLES)
    return 4 * n * (2 * landmark_count(n) + 6 * width) + 16 * n * k + 16 * (n // parts(n)) ** 2


def solve(
    rows: UnitRows,
    ridge: float,
    Y: Array,
    own: NDArray[np.intp],
    *,
    storage: str,
    seed: int,
    target: float | None,
    progress: Progress,
    kept: Keeper | None = None,
) -> Outcome:
    """alpha, d and an audit.

    Parameters
    ----------
    Y, own : arrays
        Targets, and the column of each example's own class.
    storage : str
        ``"memory"`` for half of H in memory, ``"formed"`` for every product, or a device of torch
        as ``"torch:cuda"``.
    target : float or None
        Rank correlation that the audit must show: larger blocks are taken until it does.
    kept : Keeper or None
        Where finished steps go, and come from in a run that goes on.
    """
    n, p = rows.centred.shape
    rng = np.random.default_rng(seed)
    with progress.phase("kernel", kernel_flops(n, p) / 2) as advance:
        share = kernel_flops(n, p) / 2 / (n * (n + 1) / 2)
        H = _matrix(rows, storage, lambda entries: advance(share * entries))
        landmarks = Landmarks(H, rows, ridge, rng)
    system = _System(rows, ridge, H, Preconditioner(H, landmarks), progress, kept)
    known = np.sort(rng.choice(n, min(EXAMPLES, n), replace=False))
    checked = np.sort(rng.choice(n, min(CHECKED, n), replace=False))
    mirrored = Y.shape[1] == 2 and np.array_equal(Y[:, 0], -Y[:, 1])
    alpha, audited, facts = _alpha(system, Y[:, 1:] if mirrored else Y, known, checked)
    if mirrored:
        alpha = np.hstack([-alpha, alpha])
        audited = replace(audited, alpha=np.hstack([-audited.alpha, audited.alpha]))
    count = parts(n)
    while True:
        bounds = Bounds(H, rows, landmarks, kept)
        with progress.phase("blocks", 2 * n * (n / count) ** 2) as advance:
            by_chance = bounds.of("random", random_blocks(n, count, rng), advance)
            alike = bounds.of("similar", similar_blocks(rows, count), advance)
        d, unseen = calibrate(np.column_stack([by_chance, alike]), audited)
        report = measure(Y, own, alpha, d, audited, unseen, np.random.default_rng(seed))
        if target is None or report["rank_correlation"] >= target or count <= 2:
            break
        count //= 2
    report |= {"target": TARGET if target is None else target, "residual": facts.pop("residual")}
    facts |= {
        "storage": storage,
        "landmarks": len(landmarks.J),
        "blocks": count,
        "blocks_in_float64": bounds.again,
    }
    return Outcome(alpha, d, report, facts)


def _alpha(
    system: _System, targets: Array, known: Index, checked: Index
) -> tuple[Array, Audited, dict[str, Any]]:
    """Alpha of all examples, the truth at the `known` ones, and facts about the iteration.

    Raises
    ------
    ConvergenceError
        Not even products in float64 bring the residual down.
    """
    n, k = targets.shape
    units = np.zeros((n, len(known)))
    units[known, np.arange(len(known))] = 1.0
    tolerance = np.repeat([ALPHA, AUDIT], [k, len(known)])
    X, residual, counts = system.solve(np.hstack([targets, units]), tolerance, "solve")
    alpha, x = X[:, :k], X[:, k:]
    left = system.residual(alpha, targets, checked)
    refined = 0
    while left > ROUGH:
        if refined == 3:
            raise ConvergenceError(
                f"alpha has a relative residual of {left:.1e} after {refined} refinements in "
                "float64. The kernel matrix is too ill-conditioned; use a ridge, or method='exact'."
            )
        missing = targets - kernel_product(system.rows, system.ridge, alpha)
        step, _, _ = system.solve(missing, np.full(k, 0.03), f"refine-{refined}")
        alpha = alpha + step
        residual[:, :k] = missing - kernel_product(system.rows, system.ridge, step)
        left = system.residual(alpha, targets, checked)
        refined += 1
    # what the iteration left undone enters in second order only
    d = x[known, np.arange(len(known))] + np.einsum("ij,ij->j", x, residual[:, k:])
    audited = Audited(known, d, alpha[known] + x.T @ residual[:, :k])
    iterations = {"alpha": int(counts[:k].max()), "audit": int(counts[k:].max())}
    return alpha, audited, {"iterations": iterations, "refinements": refined, "residual": left}


def _matrix(rows: UnitRows, storage: str, advance: Callable[[float], None]) -> HalfMatrix:
    if storage == "memory":
        return Kept(rows, advance)
    if storage == "formed":
        return Formed(rows)
    return OnDevice(rows, storage.removeprefix("torch:"), advance)


@dataclass(frozen=True)
class _System:
    """``H + ridge I`` as conjugate gradients need it."""

    rows: UnitRows
    ridge: float
    H: HalfMatrix
    precondition: Apply
    progress: Progress
    kept: Keeper | None

    def apply(self, V: Matrix) -> Matrix:
        """``V (H + ridge I)`` in float32."""
        image = self.H.product(V)
        return image + np.float32(self.ridge) * V if self.ridge else image

    def solve(self, B: Array, tolerance: Array, name: str) -> tuple[Array, Array, Array]:
        """Solutions and residuals for the columns of B, `WIDTH` at a time, and iterations."""
        n, m = B.shape
        X, residual, counts = np.empty((n, m)), np.empty((n, m)), np.empty(m)
        with self.progress.phase("solve", EXPECTED * 2.0 * n**2 * m) as advance:
            for start in range(0, m, WIDTH):
                part = slice(start, min(start + WIDTH, m))
                found = conjugate_gradients(
                    self.apply,
                    self.precondition,
                    np.array(B[:, part].T, np.float32, order="F"),
                    tolerance[part],
                    LIMIT,
                    _mover(advance, EXPECTED * 2.0 * n**2 * (part.stop - start)),
                    self.kept,
                    f"{name}-{start // WIDTH}",
                )
                X[:, part], residual[:, part] = found.X.T, found.residual.T
                counts[part] = found.iterations
        return X, residual, counts

    def residual(self, alpha: Array, Y: Array, checked: Index) -> float:
        """Largest relative residual over the classes, in float64, on some rows."""
        total = self.ridge * alpha[checked]
        for start in range(0, len(self.rows), 4096):
            part = slice(start, start + 4096)
            total += gram_block(self.rows[checked], self.rows[part]) @ alpha[part]
        missing = Y[checked] - total
        size = np.maximum(np.linalg.norm(Y[checked], axis=0), np.finfo(np.float64).tiny)
        return float((np.linalg.norm(missing, axis=0) / size).max())


def _mover(advance: Advance, total: float) -> Callable[[float], None]:
    """Turns fractions done into steps of a phase."""
    done = 0.0

    def moved(fraction: float) -> None:
        nonlocal done
        advance(max(0.0, fraction * total - done))
        done = max(done, fraction * total)

    return moved
