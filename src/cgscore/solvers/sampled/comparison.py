r"""Deviation of averaged scores from the exact ones, measured at some examples.

For a random example i, ``H x_i = e_i`` is solved with the whole of H by conjugate gradients. Then
``d_i = x_ii`` and, for every class, ``alpha_i = x_i . y``: its exact scores, for the price of one
right-hand side. Rank correlation is that of the examples themselves; its interval is Fisher's.

Done where H fits in memory and the arithmetic is at most that of the scores themselves or
`MAX_FLOPS`, about a minute on two cores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cgscore.errors import CGScoreError
from cgscore.execution.executor import ClusterExecutor, Executor
from cgscore.execution.machine import memory_room
from cgscore.execution.progress import Progress
from cgscore.execution.random_streams import stream
from cgscore.solvers.cholesky.factor import kernel_flops
from cgscore.solvers.iterative import solve as iterative
from cgscore.solvers.iterative.audit import rank_correlation
from cgscore.solvers.iterative.distributed import spread_bytes
from cgscore.solvers.iterative.system import solve_flops, system_of
from cgscore.solvers.sampled.averages import Averages
from cgscore.solvers.sampled.subset import SharedProblem
from cgscore.typing import Array
from cgscore.valuation import margin, valuation

AUDIT_EXAMPLES = 128
MIN_EXAMPLES = 8  # fewer examples are not compared
TOLERANCE = 1e-3  # relative residual at which a column has converged
MAX_RESIDUAL = 1e-2  # relative residual in float64 above which the columns are not trusted
MAX_PRODUCTS = 120
MAX_FLOPS = 6e12


def audit_flops(n: int, p: int) -> float:
    """Arithmetic of the audit; float32 counts half."""
    return kernel_flops(n, p) / 2 + solve_flops(n, np.full(AUDIT_EXAMPLES, TOLERANCE)) / 2


def audit(
    problem: SharedProblem,
    averages: Averages,
    flops: float,
    *,
    limit: int | None,
    executor: Executor,
    progress: Progress,
) -> tuple[dict[str, Any] | None, str | None]:
    """The value of ``meta["audit"]``, or why there is none; `flops` is the cost of the scores."""
    n, p = problem.rows.centred.shape
    slots = problem.slots
    if audit_flops(n, p) > max(MAX_FLOPS, flops):
        return None, "it would take longer than the scores"
    if _fits_on(executor, n, p):
        storage = "cluster"
    elif iterative.bytes_in_memory(n, p, slots.k) <= memory_room(limit, taken=8 * n * p).bytes:
        storage = "memory"
    else:
        return None, "the kernel matrix does not fit in memory"
    ordinary = np.flatnonzero(np.bincount(slots.row) == 1)
    rng = stream(problem.seed, "audit")
    audit_rows = np.sort(rng.choice(ordinary, min(AUDIT_EXAMPLES, len(ordinary)), replace=False))
    if len(audit_rows) < MIN_EXAMPLES:
        return None, "too few examples"
    units = np.zeros((n, len(audit_rows)))
    units[audit_rows, np.arange(len(audit_rows))] = 1.0
    try:
        system, _ = system_of(
            problem.rows, problem.ridge, storage, rng, progress, executor=executor
        )
        tolerance = np.full(len(audit_rows), TOLERANCE)
        x, residual, counts = system.solve(units, tolerance, "audit", limit=MAX_PRODUCTS)
    except (CGScoreError, MemoryError) as error:  # the scores stand without it
        return None, f"it failed: {error}"
    residual_size = system.residual(x, units, audit_rows)
    if residual_size > MAX_RESIDUAL:
        return None, f"single precision is not enough for it (residual {residual_size:.1e})"
    d = x[audit_rows, np.arange(len(audit_rows))] + np.einsum("ij,ij->j", x, residual)
    classes = np.arange(slots.k)
    alpha = x.T @ slots.targets(np.arange(n), classes)
    Y, slot_positions = slots.targets(audit_rows, classes), np.searchsorted(slots.row, audit_rows)
    codes = slots.column[slot_positions]
    true = valuation(Y, codes, alpha, d)
    pairs = {
        name: (averages.mean[name][slot_positions], getattr(true, name))
        for name in ("cg", "partial")
    }
    if slots.k > 1:
        pairs["margin"] = (margin(averages.loo()[audit_rows], codes), margin(true.loo, codes))
    iterations = int(counts.max())
    return {"examples": len(audit_rows), "iterations": iterations, **compared(pairs)}, None


def compared(pairs: Mapping[str, tuple[Array, Array]]) -> dict[str, Any]:
    """Rank correlations and errors of estimated and exact values, by the name of a score."""
    report: dict[str, Any] = {}
    for name, (estimated, exact) in pairs.items():
        finite = np.isfinite(estimated)
        if finite.sum() < MIN_EXAMPLES:
            continue
        estimated, exact = estimated[finite], exact[finite]
        correlation = rank_correlation(estimated, exact)
        key = "rank_correlation" if name == "cg" else f"rank_correlation_{name}"
        report[key] = correlation
        report[f"{key}_interval"] = _interval(correlation, len(estimated))
        size = np.maximum(np.abs(exact), np.finfo(np.float64).tiny)
        apart = np.abs(estimated - exact) / size
        report[name] = {
            "median_error": float(np.median(apart)),
            "95th_percentile_error": float(np.quantile(apart, 0.95)),
        }
    return report


def _fits_on(executor: Executor, n: int, p: int) -> bool:
    """Whether the workers of a cluster can hold the matrix; those of one that is lost cannot."""
    try:
        return isinstance(executor, ClusterExecutor) and (
            spread_bytes(n, p, executor.workers()) <= executor.memory()
        )
    except CGScoreError:
        return False


def _interval(correlation: float, count: int) -> list[float]:
    """95 % interval of a rank correlation: Fisher's, with Bonett and Wright's variance."""
    z = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    wide = 1.96 * math.sqrt((1 + correlation**2 / 2) / (count - 3))
    return [math.tanh(z - wide), math.tanh(z + wide)]
