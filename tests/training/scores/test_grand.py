"""GraNd against explicit autograd, example by example."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, LabelError, MemoryLimitError
from cgscore.training.loop.outputs import outputs
from cgscore.training.scores.grand import grand, grand_last_layer

torch = pytest.importorskip("torch")

from tests.training.tiny import Tiny, gradient, images  # noqa: E402

X, Y = images(7), np.array([0, 1, 2, 0, 1, 2, 2])


def explicit(net: Tiny, *, last: bool = False) -> list[float]:
    """Norms of gradients by all parameters, or by those of the last layer."""
    net.eval()
    found = []
    for x, y in zip(X, Y, strict=True):
        loss = torch.nn.functional.cross_entropy(net(x[None]), torch.tensor([int(y)]))
        found.append(float(gradient(loss, (net.head if last else net).parameters()).norm()))
    return found


def test_all_parameters() -> None:
    nets = [Tiny(seed=1), Tiny(seed=2)]
    right = np.mean([explicit(Tiny(seed=1)), explicit(Tiny(seed=2))], axis=0)
    one = 8 * sum(p.numel() for p in nets[0].parameters())
    for limit in (3 * one, 10 * one, "1GB"):  # one, three and all examples at a time
        assert grand(nets, X, Y, memory_limit=limit) == pytest.approx(right, rel=1e-10)
    assert all(module.training for net in nets for module in net.modules())  # as they were
    with pytest.raises(MemoryLimitError, match="Raise memory_limit"):
        grand(nets, X, Y, memory_limit=3 * one - 1)


def test_states_of_one_network() -> None:
    states = [Tiny(seed=seed).state_dict() for seed in (1, 2)]
    right = np.mean([explicit(Tiny(seed=1)), explicit(Tiny(seed=2))], axis=0)
    assert grand(states, X.numpy(), Y, model=Tiny(seed=3)) == pytest.approx(right, rel=1e-10)


def test_fixed_parameters_do_not_count() -> None:
    net = Tiny(seed=1)
    net.body.requires_grad_(False)
    assert grand([net], X, Y) == pytest.approx(explicit(Tiny(seed=1), last=True), rel=1e-10)


def test_last_layer() -> None:
    right = np.mean([explicit(Tiny(seed=s), last=True) for s in (1, 2)], axis=0)
    runs = [outputs(Tiny(seed=s), X) for s in (1, 2)]
    assert grand_last_layer(runs, Y) == pytest.approx(right, rel=1e-10)
    weights = gradient_of_weights(Tiny(seed=1).eval())
    assert grand_last_layer(runs[:1], Y, bias=False) == pytest.approx(weights, rel=1e-10)


def gradient_of_weights(net: Tiny) -> list[float]:
    loss = torch.nn.functional.cross_entropy(net(X), torch.from_numpy(Y), reduction="none")
    return [float(gradient(one, [net.head.weight]).norm()) for one in loss]


def test_wrong_arguments() -> None:
    with pytest.raises(DataError, match="checkpoints is empty"):
        grand([], X, Y)
    with pytest.raises(DataError, match="runs is empty"):
        grand_last_layer([], Y)
    with pytest.raises(LabelError, match="0 to 2"):
        grand([Tiny()], X, Y + 1)
