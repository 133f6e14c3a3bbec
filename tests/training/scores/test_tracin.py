"""TracIn against explicit autograd through a real network."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, OptionError
from cgscore.training.loop.outputs import Outputs, outputs
from cgscore.training.scores import tracin as module
from cgscore.training.scores.tracin import self_influence, tracin

torch = pytest.importorskip("torch")

from tests.training.tiny import Tiny, gradient, images  # noqa: E402

X, Y = images(6, seed=1), np.array([0, 1, 2, 0, 1, 2])
V, YV = images(4, seed=2), np.array([2, 0, 1, 1])
RATES = [0.1, 0.02]


def nets() -> list[Tiny]:
    return [Tiny(seed=seed).eval() for seed in (1, 2)]


def explicit(bias: bool) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of training and validation examples, and each training example with itself."""
    pairs, alone = np.zeros((6, 4)), np.zeros(6)
    for net, rate in zip(nets(), RATES, strict=True):
        parameters = [net.head.weight, net.head.bias] if bias else [net.head.weight]
        rows = []
        for inputs, labels in ((X, Y), (V, YV)):
            loss = torch.nn.functional.cross_entropy(
                net(inputs), torch.from_numpy(labels), reduction="none"
            )
            rows.append(torch.stack([gradient(one, parameters) for one in loss]).numpy())
        pairs += rate * rows[0] @ rows[1].T
        alone += rate * (rows[0] ** 2).sum(axis=1)
    return pairs, alone


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("chunk", [1, 1 << 22])
def test_against_autograd(bias: bool, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_TEMPORARY", chunk)
    train = (outputs(net, X) for net in nets())
    validation = (outputs(net, V) for net in nets())
    pairs, alone = explicit(bias)
    found = tracin(train, Y, validation, YV, RATES, bias=bias)
    assert found == pytest.approx(pairs.mean(axis=1), rel=1e-9)
    again = [outputs(net, X) for net in nets()]
    assert self_influence(again, Y, RATES, bias=bias) == pytest.approx(alone, rel=1e-9)


def test_wrong_arguments() -> None:
    train = [outputs(net, X) for net in nets()]
    validation = [outputs(net, V) for net in nets()]
    for rates, message in (([], "rates must be"), ([0.1], "more"), ([0.1] * 3, "2 checkpoints")):
        with pytest.raises(OptionError, match=message):
            tracin(train, Y, validation, YV, rates)
        with pytest.raises(OptionError, match=message):
            self_influence(train, Y, rates)
    with pytest.raises(OptionError, match="1 checkpoints"):
        tracin(train, Y, validation[:1], YV, RATES)
    other = [Outputs(one.features[:, 1:], one.probability) for one in validation]
    with pytest.raises(DataError, match="outputs of one network"):
        tracin(train, Y, other, YV, RATES)
    short = [Outputs(one.features[1:], one.probability) for one in train]
    with pytest.raises(DataError, match="one row for each"):
        self_influence(short, Y, RATES)
