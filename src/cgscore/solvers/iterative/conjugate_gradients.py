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
EVERY = 2  # products between two states that are kept


@dataclass(frozen=True)
class Solution:
    """Rows of X with ``X H ~ B``, the residuals ``B - X H``, and the iterations each took."""

    X: Matrix
    residual: Matrix
    iterations: Array


class Iteration:
    """The state of the iteration, so that it can be kept and taken up again."""

    def __init__(self, B: Matrix, precondition: Apply) -> None:
        self.X, self.residual = np.zeros_like(B, order="F"), np.array(B, order="F")
        self.size = np.sqrt(_dots(B, B))
        self.iterations = np.zeros(len(B))
        self.active = np.flatnonzero(self.size > 0)
        self.x, self.r = _rows(self.X, self.active), _rows(self.residual, self.active)
        self.direction = precondition(self.r).copy(order="F")
        self.rz = _dots(self.r, self.direction)
        self.count = np.array(0)

    def left(self) -> Array:
        """Relative residuals of the systems that are not finished."""
        return np.asarray(np.sqrt(_dots(self.r, self.r)) / self.size[self.active])

    def advance(self, apply: Apply, precondition: Apply, tolerance: Array) -> Array:
        """One product: a step, then the next direction for what has not converged.

        Returns the relative residuals after the step.
        """
        image = apply(self.direction)
        self.count = self.count + 1
        step = (self.rz / _dots(self.direction, image))[:, None].astype(np.float32)
        self.x += step * self.direction
        self.r -= step * image
        left = self.left()
        going = left > tolerance[self.active]
        if not going.all():
            done = self.active[~going]
            self.X[done], self.residual[done] = self.x[~going], self.r[~going]
            self.iterations[done] = self.count
            self.active, self.rz = self.active[going], self.rz[going]
            self.x, self.r = _rows(self.x, going), _rows(self.r, going)
            self.direction = _rows(self.direction, going)
        if len(self.active):
            z = precondition(self.r)
            fresh = _dots(self.r, z)
            self.direction *= (fresh / self.rz)[:, None].astype(np.float32)
            self.direction += z
            self.rz = fresh
        return left


def conjugate_gradients(
    apply: Apply,
    precondition: Apply,
    B: Matrix,
    tolerance: Array,
    limit: int,
    moved: Callable[[float], None],
    kept: StepStore | None = None,
    name: str = "",
) -> Solution:
    """Solve until each row's residual is below its tolerance, relative to its right-hand side.

    `moved` hears after every product what fraction of the digits that are wanted has been found.
    The state is given to `kept` under `name` every `EVERY` products, and taken from there.

    Raises
    ------
    ConvergenceError
        Some rows have not converged after `limit` products, or stopped being finite.
    """
    now = Iteration(B, precondition)
    if kept and (before := kept.load(name)):
        for key, value in before.items():
            setattr(now, key, np.asfortranarray(value) if value.ndim == 2 else value)
    while len(now.active):
        if now.count == limit:
            raise ConvergenceError(
                f"Conjugate gradients did not converge in {limit} products: {len(now.active)} of "
                f"{len(B)} systems are left, the worst with a relative residual of "
                f"{now.left().max():.1e}. The kernel matrix is too ill-conditioned; use a ridge, "
                "or method='exact'."
            )
        wanted = np.log(tolerance[now.active])
        left = now.advance(apply, precondition, tolerance)
        if not np.isfinite(left).all():
            raise ConvergenceError(
                "Conjugate gradients broke down: the kernel matrix is singular to single "
                "precision. Use a ridge, or method='exact'."
            )
        found = np.clip(np.log(np.minimum(left, 1.0)) / wanted, 0, 1)
        moved(float(1 - (1 - found).sum() / len(B)))
        if kept and (now.count % EVERY == 0 or not len(now.active)):
            kept.save(name, **vars(now))
    return Solution(now.X, now.residual, now.iterations)


def _rows(V: Matrix, which: NDArray[Any]) -> Matrix:
    return np.asfortranarray(V[which])


def _dots(U: Matrix, V: Matrix) -> Array:
    """Scalar products of rows, summed in float64."""
    total: Array = np.einsum("ij,ij->i", U, V, dtype=np.float64)
    return total
