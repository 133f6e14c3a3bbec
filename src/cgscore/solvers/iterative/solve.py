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
  iteration count in second order only: ``d_i = x_ii + x_i.r_i`` and ``alpha_i + x_i.r`` differ from
  the truth by ``r_i.H^-1 r_i`` and ``r_i.H^-1 r``.
- d is d', d'' calibrated by the d_i (`audit`).
- The residual of alpha is measured in float64 on some rows. If H in float32 limits it, alpha is
  refined with products formed in float64.

Cost: n^2 p flops to form H, 2 n^2 a vector and iteration, and some of that for the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import ConvergenceError
from cgscore.execution.blas import all_blas_threads
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor
from cgscore.execution.progress import Progress
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows
from cgscore.solvers.iterative.audit import (
    MAX_BOUND_RATIO,
    Audited,
    calibrate,
    measure,
    strata,
    uncertain,
)
from cgscore.solvers.iterative.block_bounds import (
    Bounds,
    opposite_blocks,
    parts,
    random_blocks,
    similar_blocks_and_seams,
)
from cgscore.solvers.iterative.conjugate_gradients import BLOCK_WIDTH
from cgscore.solvers.iterative.landmarks import count as landmark_count
from cgscore.solvers.iterative.system import System, system_of
from cgscore.solvers.kernel_product import kernel_product
from cgscore.typing import Array, Index

AUDIT_EXAMPLES = 64  # audit examples drawn from all examples
EXAMPLES_PER_STRATUM = 24  # further ones drawn near the top, and among the odd ones
TARGET_CORRELATION = 0.995  # rank correlation below which a run warns
#: Relative residuals at which systems have converged.
ALPHA_TOLERANCE, AUDIT_TOLERANCE, STRATUM_TOLERANCE = 3e-4, 3e-2, 6e-2
MAX_RESIDUAL = 2e-3  # residual in float64 above which alpha is refined
#: Share of examples with bounds that disagree, above which d is not believed.
MAX_UNCERTAIN_SHARE = 0.25
CHECKED_ROWS = 256  # rows on which residuals are measured in float64
STRATA = 2  # that have further audit examples


@dataclass(frozen=True)
class Outcome:
    """The result of `solve`: alpha (n, k), d (n,), the audit, and facts about the run."""

    alpha: Array
    d: Array
    audit: Mapping[str, Any]
    facts: Mapping[str, Any]


def bytes_in_memory(n: int, p: int, k: int) -> int:
    """Memory with half of H in memory, above the rows: H, the rows in float32, and `_vectors`."""
    return 2 * n**2 + 4 * n * p + _vectors(n, k)


def bytes_formed(n: int, p: int, k: int) -> int:
    """Memory when H is formed for every product."""
    return 4 * n * p + _vectors(n, k)


def first_tolerances(k: int, examples: int) -> Array:
    """Relative residuals to reach for k classes and so many audit examples."""
    return np.repeat([ALPHA_TOLERANCE, AUDIT_TOLERANCE], [k, examples])


def tolerances(k: int) -> Array:
    """Those of all systems that a run solves, with further audit examples."""
    further = np.full(STRATA * EXAMPLES_PER_STRATUM, STRATUM_TOLERANCE)
    return np.concatenate([first_tolerances(k, AUDIT_EXAMPLES), further])


def _vectors(n: int, k: int) -> int:
    """The preconditioner, six blocks of vectors, and the largest block of H in float64."""
    width = min(BLOCK_WIDTH, k + AUDIT_EXAMPLES)
    return 4 * n * (2 * landmark_count(n) + 6 * width) + 16 * n * k + 16 * (n // parts(n)) ** 2


def solve(
    rows: UnitRows,
    ridge: float,
    Y: Array,
    codes: NDArray[np.intp],
    *,
    storage: str,
    seed: int,
    target: float | None,
    progress: Progress,
    store: StepStore | None = None,
    executor: Executor | None = None,
) -> Outcome:
    """alpha, d and an audit.

    Parameters
    ----------
    Y, codes : arrays
        Targets, and the column of each example's own class.
    storage : str
        Where H is, as `system.system_of` has it.
    target : float or None
        Rank correlation that the audit must reach; blocks are enlarged until it does.
    store : StepStore or None
        Where finished steps are saved, and loaded from in a resumed run.
    executor : Executor or None
        A cluster on which to compute, or None.
    """
    n = len(rows)
    rng = stream(seed, "iterative")
    system, landmarks = system_of(rows, ridge, storage, rng, progress, store, executor)
    audit_rows = np.sort(rng.choice(n, min(AUDIT_EXAMPLES, n), replace=False))
    checked = np.sort(rng.choice(n, min(CHECKED_ROWS, n), replace=False))
    mirrored = Y.shape[1] == 2 and np.array_equal(Y[:, 0], -Y[:, 1])
    alpha, audited, missing, facts = _alpha(
        system, Y[:, 1:] if mirrored else Y, audit_rows, checked
    )
    if mirrored:
        alpha = np.hstack([-alpha, alpha])
        audited = replace(audited, alpha=np.hstack([-audited.alpha, audited.alpha]))
        missing = np.hstack([-missing, missing])
    count = parts(n)
    while True:
        bounds = Bounds(system.H, rows, landmarks, store)
        similar, seams = similar_blocks_and_seams(rows, count)
        opposite = opposite_blocks(rows, similar, seams)
        further = sum(float(len(block)) ** 3 for block in [*seams, *opposite])
        flops = 2 * n * (n / count) ** 2 + further
        with progress.phase("blocks", flops) as advance:
            random_bounds = bounds.of("random", random_blocks(n, count, rng), advance, executor)
            similar_bounds = bounds.of("similar", similar, advance, executor)
            seam_bounds = bounds.of("seam", seams, advance, executor)
            opposite_bounds = bounds.of("opposite", opposite, advance, executor)
        both = np.column_stack([random_bounds, similar_bounds])
        others = np.maximum(seam_bounds, opposite_bounds)
        d, unseen = calibrate(both, audited, others)
        if target is None or count <= 2:
            break
        report = measure(Y, codes, alpha, d, audited, unseen, stream(seed, "audit"))
        if report["rank_correlation"] >= target:
            break
        count //= 2
    stratum = strata(alpha[np.arange(n), codes] ** 2 / d, d, both)
    more = _further(system, stratum, alpha, missing, audit_rows, stream(seed, "further audit"))
    audited = audited.joined(more)
    unseen = np.concatenate([unseen, d[more.rows]])
    suspected = (others > MAX_BOUND_RATIO * both.max(axis=1)) | (opposite_bounds > 0)
    doubtful = uncertain(both, audited, unseen, suspected)
    if (share := doubtful.pop("share")) > MAX_UNCERTAIN_SHARE:
        raise ConvergenceError(
            "Two lower bounds of diag(H^-1) differ by more than a factor of "
            f"{MAX_BOUND_RATIO:g} for {share:.0%} of the examples: many are nearly identical to "
            "others, and d cannot be estimated from parts of the data. Use method='exact', or a "
            "ridge."
        )
    rng = stream(seed, "audit")
    report = measure(Y, codes, alpha, d, audited, unseen, rng, stratum, len(audit_rows))
    report["uncertain"] = doubtful
    report |= {
        "target": TARGET_CORRELATION if target is None else target,
        "residual": facts.pop("residual"),
    }
    facts |= {
        "storage": storage,
        "landmarks": len(landmarks.J),
        "blocks": count,
        "blocks_in_float64": bounds.float64_blocks,
    }
    return Outcome(alpha, d, report, facts)


def _further(
    system: System,
    stratum: Index,
    alpha: Array,
    missing: Array,
    audit_rows: Index,
    rng: np.random.Generator,
) -> Audited:
    """Exact values at some examples near the top and some odd ones; `missing` is alpha's residual.

    A loose tolerance is enough, since the residual enters in second order.
    """
    free = np.ones(len(stratum), bool)
    free[audit_rows] = False
    chosen: list[Index] = []
    for number in range(1, STRATA + 1):
        members = np.flatnonzero(free & (stratum == number))
        chosen.append(
            np.sort(rng.choice(members, min(EXAMPLES_PER_STRATUM, len(members)), replace=False))
        )
    rows = np.concatenate(chosen)
    x, residual, _ = system.solve(
        _units(len(stratum), rows), np.full(len(rows), STRATUM_TOLERANCE), "further"
    )
    d = x[rows, np.arange(len(rows))] + np.einsum("ij,ij->j", x, residual)
    with all_blas_threads():
        return Audited(rows, d, alpha[rows] + x.T @ missing)


def _units(n: int, rows: Index) -> Array:
    """Columns ``e_i``."""
    units = np.zeros((n, len(rows)))
    units[rows, np.arange(len(rows))] = 1.0
    return units


def _alpha(
    system: System, targets: Array, audit_rows: Index, checked: Index
) -> tuple[Array, Audited, Array, dict[str, Any]]:
    """Alpha of all examples, exact values at `audit_rows`, alpha's residual, and facts.

    Raises
    ------
    ConvergenceError
        The residual stays too large even after refinement in float64.
    """
    n, k = targets.shape
    units = _units(n, audit_rows)
    tolerance = first_tolerances(k, len(audit_rows))
    X, residual, counts = system.solve(np.hstack([targets, units]), tolerance, "solve")
    alpha, x = X[:, :k], X[:, k:]
    residual_size = system.residual(alpha, targets, checked)
    refined = 0
    while residual_size > MAX_RESIDUAL:
        if refined == 3:
            raise ConvergenceError(
                f"alpha has a relative residual of {residual_size:.1e} after {refined} refinements "
                "in float64. The kernel matrix is too ill-conditioned; use a ridge, or "
                "method='exact'."
            )
        missing = targets - kernel_product(system.rows, system.ridge, alpha)
        step, _, _ = system.solve(missing, np.full(k, 0.03), f"refine-{refined}")
        alpha = alpha + step
        residual[:, :k] = missing - kernel_product(system.rows, system.ridge, step)
        residual_size = system.residual(alpha, targets, checked)
        refined += 1
    # the remaining residual enters in second order only
    d = x[audit_rows, np.arange(len(audit_rows))] + np.einsum("ij,ij->j", x, residual[:, k:])
    with all_blas_threads():
        audited = Audited(audit_rows, d, alpha[audit_rows] + x.T @ residual[:, :k])
    iterations = {"alpha": int(counts[:k].max()), "audit": int(counts[k:].max())}
    facts = {"iterations": iterations, "refinements": refined, "residual": residual_size}
    return alpha, audited, residual[:, :k].copy(), facts
