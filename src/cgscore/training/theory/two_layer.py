r"""The two-layer ReLU network of the paper's theory, and its kernel.

=======  =======  ====================================================================
symbol   shape    meaning
=======  =======  ====================================================================
m        scalar   width: number of neurons
W        m x p    weights of the first layer, drawn from ``N(0, kappa^2 I)``, trained
a        m        weights of the second layer, +1 or -1 at random, fixed
u        n        outputs, ``u_i = m^-1/2 sum_r a_r max(0, w_r . x_i)``
H_t      n x n    ``(x_i . x_j)`` times the share of neurons active for both i and j
=======  =======  ====================================================================

(paper, section 3.1 and appendix I). ``H_t`` is the Gram matrix of the gradients of u with respect
to W at time t. H is its mean over random weights; in a wide network ``H_t`` stays close to H.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from cgscore.errors import DataError, OptionError
from cgscore.kernel import as_matrix, unit_rows
from cgscore.training.networks.classifier import Classifier, seeded
from cgscore.typing import Array


def two_layer(
    inputs: int, m: int, *, kappa: float = 1.0, num_classes: int = 1, seed: int = 0
) -> TwoLayer:
    """The two-layer network of the theory, by default with one output.

    Parameters
    ----------
    inputs : int
        Dimension p of an example.
    m : int
        Neurons of the hidden layer.
    kappa : float
        Standard deviation of the initial weights.
    num_classes : int
        Number of outputs; each has its own signs.
    seed : int
        Seed of weights and signs.
    """
    if not kappa > 0:
        raise OptionError(f"kappa must be larger than 0; got {kappa!r}.")
    return seeded(seed, lambda: TwoLayer(inputs, m, kappa, num_classes))


class TwoLayer(Classifier):
    """``f(x) = 1/sqrt(m) sum_r a_r relu(w_r x)``, of which only w is trained.

    w is drawn from N(0, kappa^2 I), and a from -1 and 1. a is the weight of `head`, which has no
    bias.
    """

    def __init__(self, inputs: int, m: int, kappa: float, num_classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(inputs, m, bias=False)
        self.head = nn.Linear(m, num_classes, bias=False)
        self.head.requires_grad_(False)
        nn.init.normal_(self.hidden.weight, std=kappa)
        with torch.no_grad():
            self.head.weight.copy_(2.0 * torch.randint(2, (num_classes, m)) - 1)

    def features(self, x: Tensor) -> Tensor:
        """``relu(w x) / sqrt(m)``: (n, m)."""
        active = functional.relu(self.hidden(x.flatten(1)))
        return active / math.sqrt(self.hidden.out_features)


def unit_inputs(X: ArrayLike) -> Array:
    """Rows of X scaled to unit norm."""
    rows = unit_rows(X)
    return rows.centred + rows.centre


def active_kernel(W: ArrayLike, X: ArrayLike) -> Array:
    """``H_t`` for the weights W of the first layer at time t.

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
            f"W has {weights.shape[1]:,} columns. Expected {rows.shape[1]:,}, as X has."
        )
    active = (rows @ weights.T >= 0).astype(np.float64)
    H_t: Array = (rows @ rows.T) * (active @ active.T) / len(weights)
    return H_t
