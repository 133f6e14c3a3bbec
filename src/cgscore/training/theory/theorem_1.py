r"""Theorem 1 of the paper, compared with trained networks.

With ``H = sum_i lambda_i v_i v_i^T``, step size eta and a wide two-layer network from a small
random start (section 3.1):

a. the loss after k steps is ``|y - u(k)| = sqrt(sum_i (1 - eta lambda_i)^2k (v_i . y)^2)``,
b. neurons move by ``|W(k) - W(0)|_F <= sqrt(y^T H^-1 y)``,
c. the expected loss of new examples is at most ``sqrt(y^T H^-1 y / n)``,

each up to a small constant. The loss in (c) may be any that is 1-Lipschitz, 0 for a correct output
and at most 1; here it is ``min(|u - y|, 1)``. The theorem that the paper cites (Arora et al., 2019)
has ``sqrt(2 y^T H^-1 y / n)`` in (c).

How small the random start must be: it adds about ``kappa sqrt(n / 2)`` to the loss, and a neuron
moves by ``sqrt(y^T H^-1 y / m)``, which must be small compared with its length ``kappa sqrt(p)``. A
smaller kappa therefore needs a larger width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from cgscore.errors import DataError, LabelError, OptionError, SingularKernelError
from cgscore.kernel import ENTRY_ERROR, gram
from cgscore.training.theory.two_layer import TwoLayer, two_layer, unit_inputs
from cgscore.typing import Array


@dataclass(frozen=True)
class TheoremCheck:
    """Loss and movement of the weights, measured and predicted.

    Attributes
    ----------
    loss, predicted : (steps + 1,) arrays
        ``|y - u(k)|`` for k = 0 ... steps, measured and by (a).
    movement : (steps + 1,) array
        ``|W(k) - W(0)|_F``.
    predicted_movement : (steps + 1,) array
        The same for a network that stays linear:
        ``sqrt(sum_i (1 - (1 - eta lambda_i)^k)^2 (v_i . y)^2 / lambda_i)``; its limit is the bound.
    movement_bound : float
        ``sqrt(y^T H^-1 y)``, the bound of (b).
    test_loss : float
        Mean of ``min(|u - y|, 1)`` over the test examples at the end; NaN without any.
    test_bound : float
        ``sqrt(y^T H^-1 y / n)``, the bound of (c).
    rate : float
        Step size eta.
    """

    loss: Array
    predicted: Array
    movement: Array
    predicted_movement: Array
    movement_bound: float
    test_loss: float
    test_bound: float
    rate: float


def check_theorem(
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    width: int = 10_000,
    steps: int = 1_000,
    rate: float | None = None,
    kappa: float = 0.2,
    seed: int = 0,
) -> TheoremCheck:
    """A wide two-layer network, trained and compared with the theorem at every step.

    Parameters
    ----------
    X : (n, p) array
        Inputs; every row is scaled to unit norm first.
    y : (n,) array
        Targets from -1 to 1.
    X_test, y_test : arrays, optional
        Examples of the same distribution, for (c).
    width, kappa, seed
        Width m, initial standard deviation and seed of the network.
    steps : int
        Steps of gradient descent on all examples.
    rate : float, optional
        Step size; by default ``1 / lambda_1``.

    Notes
    -----
    A step takes ``4 n m p`` flops and a few temporaries of ``8 n m`` bytes.
    """
    rows, target = unit_inputs(X), _targets(y, len(np.asarray(X)), "y")
    H = gram(X)
    eigenvalues, V = np.linalg.eigh(H)
    if eigenvalues[0] <= ENTRY_ERROR * len(H):
        raise SingularKernelError(
            f"X has a kernel matrix with the smallest eigenvalue {eigenvalues[0]:.1e}. The theorem "
            "needs a positive one: remove repeated rows."
        )
    if steps < 1:
        raise OptionError(f"steps must be 1 or larger; got {steps!r}.")
    if rate is not None and not rate > 0:
        raise OptionError(f"rate must be larger than 0; got {rate!r}.")
    eta = 1 / float(eigenvalues[-1]) if rate is None else rate
    network = two_layer(rows.shape[1], width, kappa=kappa, seed=seed).double()
    inputs, targets, W = torch.as_tensor(rows), torch.as_tensor(target), network.hidden.weight
    start = W.detach().clone()
    loss, movement = np.empty(steps + 1), np.empty(steps + 1)
    for k in range(steps + 1):
        movement[k] = float((W.detach() - start).norm())
        loss[k] = descend(network, inputs, targets, eta if k < steps else 0.0)
    components = V.T @ target
    decay = (1 - eta * eigenvalues) ** np.arange(steps + 1)[:, None]
    complexity = float(components**2 @ (1 / eigenvalues))
    return TheoremCheck(
        loss=loss,
        predicted=np.sqrt(decay**2 @ components**2),
        movement=movement,
        predicted_movement=np.sqrt((1 - decay) ** 2 @ (components**2 / eigenvalues)),
        movement_bound=complexity**0.5,
        test_loss=_test_loss(network, rows.shape[1], X_test, y_test),
        test_bound=(complexity / len(H)) ** 0.5,
        rate=eta,
    )


def descend(network: TwoLayer, X: Tensor, y: Tensor, rate: float) -> float:
    """Do one step of gradient descent on ``|y - u|^2 / 2``; return ``|y - u|`` before it."""
    residual = y - network(X)[:, 0]
    (gradient,) = torch.autograd.grad(residual.square().sum() / 2, network.hidden.weight)
    with torch.no_grad():
        network.hidden.weight -= rate * gradient
    return float(residual.detach().norm())


def _targets(y: ArrayLike, n: int, name: str) -> Array:
    values = np.asarray(y, np.float64)
    if values.shape != (n,) or not (abs(values) <= 1).all():
        raise LabelError(
            f"{name} has the shape {values.shape}. Expected {n:,} numbers from -1 to 1."
        )
    return values


def _test_loss(
    network: TwoLayer, p: int, X_test: ArrayLike | None, y_test: ArrayLike | None
) -> float:
    if X_test is None or y_test is None:
        if X_test is not y_test:
            raise OptionError("X_test and y_test must be given together. Give both or neither.")
        return float("nan")
    rows = unit_inputs(X_test)
    if rows.shape[1] != p:
        raise DataError(f"X_test has {rows.shape[1]:,} columns. Expected {p:,}, as X has.")
    target = _targets(y_test, len(rows), "y_test")
    with torch.no_grad():
        u = network(torch.as_tensor(rows))[:, 0].numpy()
    return float(np.minimum(abs(u - target), 1).mean())
