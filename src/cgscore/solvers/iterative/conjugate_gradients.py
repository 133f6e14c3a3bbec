"""Preconditioned conjugate gradients for many right-hand sides at once.

Each row of B is a system of its own; they share every product with H and leave the block when they
have converged. Vectors are float32, scalar products float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import ConvergenceError
from cgscore.execution.checkpoint import StepStore
from cgscore.typing import Array, Matrix

Apply = Callable[[Matrix], Matrix]

BLOCK_WIDTH = 128  # systems solved at once
SAVE_EVERY = 2  # products between two saved states


@dataclass(frozen=True)
class Solution:
    """Rows of X with ``X H ~ B``, the residuals ``B - X H``, and the iterations each took."""

    X: Matrix
    residual: Matrix
    iterations: Array


class Iteration:
    """The state of the iteration; its attributes are what a checkpoint saves and restores."""

    def __init__(self, B: Matrix, precondition: Apply) -> None:
        self.X, self.residual = np.zeros_like(B, order="F"), np.array(B, order="F")
        self.size = np.sqrt(_dots(B, B))
        self.iterations = np.zeros(len(B))
        self.active = np.flatnonzero(self.size > 0)
        self.x, self.r = _rows(self.X, self.active), _rows(self.residual, self.active)
        self.direction = precondition(self.r).copy(order="F")
        self.rz = _dots(self.r, self.direction)
        self.count = np.array(0)

    def relative_residuals(self) -> Array:
        """Relative residuals of the systems that are not finished."""
        return np.asarray(np.sqrt(_dots(self.r, self.r)) / self.size[self.active])

    def advance(self, apply: Apply, precondition: Apply, tolerance: Array) -> Array:
        """One product: a step, then the next direction of the systems that have not converged.

        Returns the relative residuals after the step.
        """
        image = apply(self.direction)
        self.count = self.count + 1
        step = (self.rz / _dots(self.direction, image))[:, None].astype(np.float32)
        self.x += step * self.direction
        self.r -= step * image
        relative = self.relative_residuals()
        going = relative > tolerance[self.active]
        if not going.all():
            done = self.active[~going]
            self.X[done], self.residual[done] = self.x[~going], self.r[~going]
            self.iterations[done] = self.count
            self.active, self.rz = self.active[going], self.rz[going]
            self.x, self.r = _rows(self.x, going), _rows(self.r, going)
            self.direction = _rows(self.direction, going)
        if len(self.active):
            z = precondition(self.r)
            rz = _dots(self.r, z)
            self.direction *= (rz / self.rz)[:, None].astype(np.float32)
            self.direction += z
            self.rz = rz
        return relative


def conjugate_gradients(
    apply: Apply,
    precondition: Apply,
    B: Matrix,
    tolerance: Array,
    limit: int,
    report_progress: Callable[[float], None],
    store: StepStore | None = None,
    name: str = "",
) -> Solution:
    """Solve until each row's residual is below its tolerance, relative to its right-hand side.

    After every product `report_progress` is called with the fraction of the required digits that
    has been reached. The state is saved in `store` under `name` every `SAVE_EVERY` products; a
    saved state is resumed.

    Raises
    ------
    ConvergenceError
        Some rows have not converged after `limit` products, or stopped being finite.
    """
    state = Iteration(B, precondition)
    if store and (saved := store.load(name)):
        for key, value in saved.items():
            setattr(state, key, np.asfortranarray(value) if value.ndim == 2 else value)
    while len(state.active):
        if state.count == limit:
            raise ConvergenceError(
                f"Conjugate gradients did not converge in {limit} products: {len(state.active)} of "
                f"{len(B)} systems are left, the worst with a relative residual of "
                f"{state.relative_residuals().max():.1e}. The kernel matrix is too "
                "ill-conditioned; use a ridge, or method='exact'."
            )
        wanted = np.log(tolerance[state.active])
        relative = state.advance(apply, precondition, tolerance)
        if not np.isfinite(relative).all():
            raise ConvergenceError(
                "Conjugate gradients broke down: the kernel matrix is singular to single "
                "precision. Use a ridge, or method='exact'."
            )
        fraction_done = np.clip(np.log(np.minimum(relative, 1.0)) / wanted, 0, 1)
        report_progress(float(1 - (1 - fraction_done).sum() / len(B)))
        if store and (state.count % SAVE_EVERY == 0 or not len(state.active)):
            store.save(name, **vars(state))
    return Solution(state.X, state.residual, state.iterations)


def _rows(V: Matrix, which: NDArray[Any]) -> Matrix:
    return np.asfortranarray(V[which])


def _dots(U: Matrix, V: Matrix) -> Array:
    """Scalar products of rows, summed in float64."""
    total: Array = np.einsum("ij,ij->i", U, V, dtype=np.float64)
    return total
