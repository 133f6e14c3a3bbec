"""Kernel velocity against explicit Jacobians."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, MemoryLimitError, OptionError
from cgscore.training.networks.gradients import PEAK_FACTOR
from cgscore.training.theory.two_layer import active_kernel
from cgscore.training.theory.velocity import (
    GROUP_SIZE,
    kernel_velocity,
    tangent_kernel,
    two_layer_velocity,
    velocity,
    velocity_groups,
)

torch = pytest.importorskip("torch")

from tests.training.tiny import Tiny, gradient, images  # noqa: E402

X = images(7)


def explicit(net: Tiny, rows: list[int]) -> np.ndarray:
    logits = net.eval()(X[rows])
    J = torch.stack([gradient(one, net.parameters()) for one in logits.flatten()]).numpy()
    found: np.ndarray = J @ J.T
    return found


def cosine_distance(K: np.ndarray, L: np.ndarray) -> float:
    return 1 - float((K * L).sum() / np.sqrt((K**2).sum() * (L**2).sum()))


def test_the_kernel_is_that_of_all_derivatives() -> None:
    net = Tiny(seed=1)
    right = explicit(Tiny(seed=1), list(range(7)))
    one = 3 * 8 * sum(p.numel() for p in net.parameters())
    for limit in ((1 + PEAK_FACTOR) * one, 7 * one, 40 * one, "2GB"):  # in blocks of 1, 4, ...
        assert tangent_kernel(net, X, memory_limit=limit) == pytest.approx(right, rel=1e-9)
    assert all(module.training for module in net.modules())
    with pytest.raises(MemoryLimitError, match="Raise memory_limit"):
        tangent_kernel(net, X, memory_limit=(1 + PEAK_FACTOR) * one - 1)


def test_velocity_between_checkpoints() -> None:
    groups = [[0, 2, 4], [1, 3, 5, 6]]
    states = [Tiny(seed=seed).state_dict() for seed in (1, 1, 2)]
    found = kernel_velocity(states, X, groups, model=Tiny())
    assert found.shape == (2, 2)
    assert (found[0] == 0).all()  # nothing moved
    for group, reached in zip(groups, found[1], strict=True):
        right = cosine_distance(explicit(Tiny(seed=1), group), explicit(Tiny(seed=2), group))
        assert right > 0.01
        assert reached == pytest.approx(right, rel=1e-9)
    nets = (Tiny(seed=seed) for seed in (1, 1, 2))
    assert kernel_velocity(nets, X, groups) == pytest.approx(found)
    with pytest.raises(DataError, match="two or more"):
        kernel_velocity(states[:1], X, groups, model=Tiny())
    with pytest.raises(MemoryLimitError, match="kernel matrices of 2 groups at two checkpoints"):
        kernel_velocity(states, X, groups, model=Tiny(), memory_limit=2000)


def test_velocity_of_matrices() -> None:
    K = np.diag([3.0, 4.0])
    assert velocity(K, 7 * K) == pytest.approx(0, abs=1e-30)
    assert velocity(K, np.diag([4.0, 3.0])) == pytest.approx(1 - 24 / 25)
    assert velocity(np.diag([1.0, 0]), np.diag([0, 1.0])) == pytest.approx(1)
    with pytest.raises(DataError, match="positive norms"):
        velocity(K, 0 * K)
    with pytest.raises(DataError, match="same shape"):
        velocity(K, np.eye(3))


def test_groups_start_the_levels() -> None:
    scores = np.random.default_rng(0).permutation(2000)
    groups = velocity_groups(scores)
    assert [len(group) for group in groups] == [GROUP_SIZE] * 10 == [125] * 10
    for level, group in enumerate(groups):
        assert scores[group].tolist() == list(range(200 * level, 200 * level + 125))
    with pytest.raises(OptionError, match="size of a level, 100"):
        velocity_groups(scores[:1000])


def test_two_layer_velocity() -> None:
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(8, 4))
    first, second = rng.normal(size=(2, 30, 4))
    groups = [[0, 1, 2], [3, 4, 5, 6, 7]]
    found = two_layer_velocity([first, first, second], inputs, groups)
    assert (found[0] == 0).all()
    for group, reached in zip(groups, found[1], strict=True):
        kernels = [active_kernel(W, inputs)[np.ix_(group, group)] for W in (first, second)]
        assert reached == pytest.approx(cosine_distance(*kernels))
