"""The two-layer network by hand, and its kernel against autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cgscore import gram
from cgscore.errors import DataError, OptionError
from cgscore.training.theory.two_layer import active_kernel, two_layer, unit_inputs
from tests.training.tiny import gradient


def test_two_layers_are_those_of_the_theory() -> None:
    model = two_layer(5, 1000, kappa=0.1, seed=3)
    w, a = model.hidden.weight.detach().numpy(), model.head.weight.numpy()
    assert set(np.unique(a)) == {-1.0, 1.0}
    assert abs(a.mean()) < 0.15
    assert w.std() == pytest.approx(0.1, rel=0.05)
    x = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    by_hand = np.maximum(x @ w.T, 0) @ a.T / np.sqrt(1000)
    found = model(torch.tensor(x))
    assert np.allclose(found.detach().numpy(), by_hand, atol=1e-6)
    found.sum().backward()
    trained = [name for name, weight in model.named_parameters() if weight.grad is not None]
    assert trained == ["hidden.weight"]
    with pytest.raises(OptionError, match="kappa must be larger than 0; got 0"):
        two_layer(5, 10, kappa=0)


def test_the_kernel_of_a_wide_network_is_h() -> None:
    X = unit_inputs(np.random.default_rng(1).normal(size=(8, 4)))
    off = []
    for m in (400, 40_000):
        W = two_layer(4, m).hidden.weight.detach().numpy()
        off.append(abs(active_kernel(W, X) - gram(X)).max())
    assert off[0] < 0.1
    assert off[1] < 0.01


def test_two_layer_kernel_is_that_of_its_gradients() -> None:
    rows = unit_inputs(np.random.default_rng(1).normal(size=(6, 4)))
    net = two_layer(4, 50, kappa=0.5, seed=2).double()
    W = net.hidden.weight
    J = torch.stack([gradient(one, [W]) for one in net(torch.tensor(rows))[:, 0]]).numpy()
    assert active_kernel(W.detach().numpy(), 3 * rows) == pytest.approx(J @ J.T)


def test_wrong_shapes() -> None:
    with pytest.raises(DataError, match=r"W has 3 columns\. Expected 4"):
        active_kernel(np.ones((5, 3)), np.ones((2, 4)))
