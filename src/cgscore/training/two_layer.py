r"""The two-layer ReLU network of the paper's theory, trained by gradient descent in float64.

=======  =======  ====================================================================
symbol   shape    meaning
=======  =======  ====================================================================
m        scalar   width: number of neurons
W        m x p    weights of the first layer, drawn from ``N(0, kappa^2 I)``, trained
a        m        weights of the second layer, +1 or -1 at random, fixed
u        n        outputs, ``u_i = m^-1/2 sum_r a_r max(0, w_r . x_i)``
Phi      scalar   the loss, ``|y - u|^2 / 2``
H_t      n x n    ``(x_i . x_j)`` times the share of neurons active for both i and j
=======  =======  ====================================================================

(paper, section 3.1 and appendix I). ``H_t`` is the Gram matrix of the gradients of u with respect
to W at time t, and H its mean over random weights, which a wide network never leaves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cgscore.errors import DataError, OptionError
from cgscore.kernel import Array, as_matrix, unit_rows


def unit_inputs(X: ArrayLike) -> Array:
    """Rows of X scaled to unit norm."""
    rows = unit_rows(X)
    return rows.centred + rows.centre


class TwoLayer:
    """A network at its random start; `step` trains it.

    Parameters
    ----------
    p : int
        Columns of the inputs.
    width : int
        Number of neurons.
    kappa : float
        Standard deviation of the first weights.
    seed : int

    Attributes
    ----------
    W : (m, p) array
    a : (m,) array
    """

    def __init__(self, p: int, width: int, *, kappa: float = 1.0, seed: int = 0) -> None:
        if width < 1 or not 0 < kappa <= 1:
            raise OptionError(
                f"width={width!r} and kappa={kappa!r} make no sense. Expected at least one neuron "
                "and a kappa above 0, at most 1."
            )
        draw = np.random.default_rng(seed)
        self.W: Array = kappa * draw.standard_normal((width, p))
        self.a: Array = draw.choice([-1.0, 1.0], width)

    def outputs(self, X: Array) -> Array:
        """u, for unit rows X."""
        found: Array = np.maximum(X @ self.W.T, 0) @ self.a / np.sqrt(len(self.a))
        return found

    def step(self, X: Array, y: Array, rate: float) -> Array:
        """One step of gradient descent on Phi; returns u from before it."""
        inner = X @ self.W.T
        active = inner >= 0
        u: Array = np.where(active, inner, 0) @ self.a / np.sqrt(len(self.a))
        pulls = (active * (y - u)[:, None]).T @ X  # sum_i (y_i - u_i) [w_r . x_i >= 0] x_i
        self.W = self.W + rate / np.sqrt(len(self.a)) * self.a[:, None] * pulls
        return u


def active_kernel(W: ArrayLike, X: ArrayLike) -> Array:
    """``H_t`` of the first weights W at some time.

    Parameters
    ----------
    W : (m, p) array
        Weights of the first layer.
    X : (n, p) array
        Inputs; every row is scaled to unit norm first.

    Returns
    -------
    (n, n) array
    """
    weights, rows = as_matrix(W, "W").astype(np.float64), unit_inputs(X)
    if weights.shape[1] != rows.shape[1]:
        raise DataError(
            f"W has {weights.shape[1]:,} columns and X {rows.shape[1]:,}. Expected as many."
        )
    active = (rows @ weights.T >= 0).astype(np.float64)
    found: Array = (rows @ rows.T) * (active @ active.T) / len(weights)
    return found
