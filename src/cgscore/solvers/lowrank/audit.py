r"""How near the model of landmarks comes to the whole kernel matrix, at some examples.

For random examples i, ``(H + r I) x_i = e_i`` is solved by conjugate gradients. With the residual
``r_i = e_i - (H + r I) x_i``, the exact method has ``d_i = x_ii + x_i . r_i`` and
``alpha_i = x_i . Y + r_i . alpha``, up to terms of second order. Rank correlations are those of the
examples themselves; their intervals are Fisher's (`sampled.comparison`).

H is formed again for every product: done where the arithmetic is at most that of the scores
themselves or `MAX_FLOPS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cgscore.errors import CGScoreError
from cgscore.execution.blas import all_blas_threads
from cgscore.execution.progress import Progress
from cgscore.execution.random_streams import stream
from cgscore.kernel import UnitRows
from cgscore.solvers.cholesky.factor import kernel_flops
from cgscore.solvers.iterative.landmarks import count as landmark_count
from cgscore.solvers.iterative.system import system_of
from cgscore.solvers.sampled.comparison import compared
from cgscore.typing import Array, Codes
from cgscore.valuation import margin, valuation

AUDIT_EXAMPLES = 128
MIN_EXAMPLES = 8  # fewer examples are not compared
TOLERANCE = 1e-2  # relative residual at which a column has converged; it enters in second order
MAX_RESIDUAL = 2e-2  # relative residual in float64 above which the columns are not trusted
EXPECTED_PRODUCTS = 10
MAX_PRODUCTS = 40
MAX_FLOPS = 6e12  # a minute or so on two cores


def audit_flops(n: int, p: int, storage: str) -> float:
    """Arithmetic of the audit; float32 counts half."""
    kernels = 1 if storage == "memory" else EXPECTED_PRODUCTS
    return kernels * kernel_flops(n, p) / 2 + EXPECTED_PRODUCTS * float(n) ** 2 * AUDIT_EXAMPLES


def audit_bytes(n: int, p: int, k: int, storage: str) -> int:
    """Memory of the audit: rows twice, the preconditioner, vectors and targets."""
    matrix = 2 * n**2 if storage == "memory" else 0
    vectors = 4 * n * (2 * landmark_count(n) + 8 * AUDIT_EXAMPLES)
    return matrix + 12 * n * p + vectors + 40 * n * k


def audit(
    rows: UnitRows,
    ridge: float,
    Y: Array,
    codes: Codes,
    alpha: Array,
    d: Array,
    *,
    storage: str,
    seed: int,
    progress: Progress,
) -> tuple[dict[str, Any] | None, str | None]:
    """The value of ``meta["audit"]``, or why there is none.

    Parameters
    ----------
    rows, ridge, Y, codes
        The whole problem.
    alpha, d : (n, k) and (n,) arrays
        Of the model.
    storage : str
        ``"memory"`` or ``"formed"``: where H is.
    """
    n = len(rows)
    rng = stream(seed, "audit")
    audit_rows = np.sort(rng.choice(n, min(AUDIT_EXAMPLES, n), replace=False))
    if len(audit_rows) < MIN_EXAMPLES:
        return None, "too few examples"
    units = np.zeros((n, len(audit_rows)))
    units[audit_rows, np.arange(len(audit_rows))] = 1.0
    try:
        system, _ = system_of(rows, ridge, storage, rng, progress)
        tolerance = np.full(len(audit_rows), TOLERANCE)
        x, residual, counts = system.solve(units, tolerance, "audit", limit=MAX_PRODUCTS)
    except (CGScoreError, MemoryError) as error:  # the scores stand without it
        return None, f"it failed: {error}"
    residual_size = system.residual(x, units, audit_rows)
    if residual_size > MAX_RESIDUAL:
        return None, f"single precision is not enough for it (residual {residual_size:.1e})"
    exact_d = x[audit_rows, np.arange(len(audit_rows))] + np.einsum("ij,ij->j", x, residual)
    with all_blas_threads():
        exact_alpha = x.T @ Y + residual.T @ alpha
    Y, codes = Y[audit_rows], codes[audit_rows]
    exact = valuation(Y, codes, exact_alpha, exact_d)
    found = valuation(Y, codes, alpha[audit_rows], d[audit_rows])
    pairs = {name: (getattr(found, name), getattr(exact, name)) for name in ("cg", "partial")}
    if Y.shape[1] > 1:
        pairs["margin"] = margin(found.loo, codes), margin(exact.loo, codes)
    report = {"examples": len(audit_rows), "iterations": int(counts.max()), "storage": storage}
    return {**report, **compared(pairs)}, None
