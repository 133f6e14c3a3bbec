"""Training on weighted subsets that are chosen anew on the way."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import OptionError, StorageError
from cgscore.training.loop import run
from cgscore.training.loop.evaluation import Evaluation
from cgscore.training.loop.presets import Settings
from cgscore.training.loop.schedule import Batches
from cgscore.training.loop.trainer import train
from cgscore.training.scores.craig import Coreset, craig
from cgscore.training.scores.reselection import Craig

torch = pytest.importorskip("torch")

from tests.training.test_trainer import (  # noqa: E402
    QUICK,
    Interrupted,
    after,
    images,
    linear,
    network,
    same,
    softmax_regression,
)


@dataclass(frozen=True)
class Turns:
    """First some, then others, with weights by position."""

    every: int = 2

    def __call__(self, epoch: int, found: Evaluation, codes: Any) -> Coreset:
        assert found.probability.shape == (12, 3)
        positions = np.arange(5) + epoch
        return Coreset(positions, positions + 1, 0.0)


def test_weighted_steps_are_those_of_the_formulas() -> None:
    X, y = np.random.default_rng(0).standard_normal((12, 4)), np.arange(12) % 3
    settings = Settings(4, 0.3, batch_size=4, momentum=0.8, weight_decay=0.05)
    given = linear(4, 3)
    found = train(given, X, y, settings=settings, seed=5, select=Turns())
    batches, weights = [], []
    for start, rows in ((0, range(5)), (6, range(2, 7))):
        order = Batches(torch.tensor(rows), 4, 5, start)
        batches += [order[t].numpy() for t in range(start, start + 6)]
        one = np.zeros(12)
        one[list(rows)] = (np.array(rows) + 1) / np.mean(np.array(rows) + 1)
        weights += [one] * 6
    assert set(np.concatenate(batches[:6])) == set(range(5))
    W, b = (given.state_dict()[name].numpy().astype(float) for name in ("weight", "bias"))
    W, b = softmax_regression(W, b, X, np.eye(3)[y], batches, settings, weights)
    after = found.model.state_dict()
    assert np.allclose(after["weight"], W, atol=1e-5)
    assert np.allclose(after["bias"], b, atol=1e-5)


def test_craig_chooses_by_the_network_as_it_is(tmp_path: Path) -> None:
    X, y = images(60)
    seen: list[list[int]] = []
    probabilities: list[Any] = []

    @dataclass(frozen=True)
    class Watched(Craig):
        def __call__(self, epoch: int, found: Evaluation, codes: Any) -> Coreset:
            chosen = super().__call__(epoch, found, codes)
            assert (codes == y).all()
            by_hand = craig(found.probability, y, 0.2, seed=epoch)
            assert chosen.positions.tolist() == by_hand.positions.tolist()
            assert chosen.weights.sum() == 60
            seen.append([epoch, *chosen.positions])
            probabilities.append(found.probability)
            return chosen

    settings = Settings(epochs=6, learning_rate=0.1, batch_size=8, augment=False)
    found = train(network(), X, y, settings=settings, select=Watched(0.2, every=2))
    assert [one[0] for one in seen] == [0, 2, 4]
    assert {len(one) for one in seen} == {1 + 12}
    for one, other in itertools.pairwise(probabilities):  # the network has moved in between
        assert not np.array_equal(one, other)
    assert found.steps == 6 * 8  # as with all examples


def test_an_interrupted_run_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = images()
    told: dict[str, Any] = {"settings": QUICK, "select": Craig(0.4, every=2, method="stochastic")}
    whole = train(network(), X, y, checkpoint=tmp_path / "whole", **told)
    monkeypatch.setattr(run, "OFTEN", 0.0)  # the state is kept at every step
    for part in (0.2, 0.45, 0.7, 0.97):
        with pytest.raises(Interrupted):
            train(network(), X, y, checkpoint=tmp_path / "cut", progress=after(part), **told)
    cut = train(network(), X, y, checkpoint=tmp_path / "cut", **told)
    assert same(whole.model, cut.model)
    for name in ("records", "checkpoint.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()
    with pytest.raises(StorageError, match=r"the selection differs: Craig\(fraction=0.4"):
        train(network(), X, y, settings=QUICK, select=Craig(0.5), checkpoint=tmp_path / "cut")


def test_what_makes_no_sense() -> None:
    X, y = images()
    with pytest.raises(OptionError, match="give one of them"):
        train(network(), X, y, settings=QUICK, rows=range(9), select=Craig(0.5))
    with pytest.raises(OptionError, match="chose 1 examples"):
        train(network(), X, y, settings=QUICK, select=Craig(0.01))
    for options, message in (
        ({"fraction": 0}, "fraction must be above 0"),
        ({"fraction": 0.5, "method": "best"}, "lazy, stochastic, plain"),
        ({"fraction": 0.5, "every": 0}, "every=0"),
    ):
        with pytest.raises(OptionError, match=message):
            Craig(**options)
