"""What networks say of examples, and networks restored from saved states."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError, OptionError
from cgscore.training.loop import evaluation
from cgscore.training.loop.checkpoints import Checkpoint, restored
from cgscore.training.loop.outputs import outputs

torch = pytest.importorskip("torch")

from tests.training.tiny import Tiny, images  # noqa: E402


def test_features_and_probabilities_by_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    net, X = Tiny(), images(7)
    monkeypatch.setattr(evaluation, "TOGETHER", 3)
    found = outputs(net, X)
    assert net.body[3].training  # dropout is as it was
    net.eval()
    with torch.no_grad():
        assert found.features == pytest.approx(net.features(X).numpy())
        assert found.probability == pytest.approx(net(X).softmax(dim=1).numpy())
    assert found.features.shape == (7, 16)


def test_modes_of_single_modules_stay() -> None:
    net = Tiny()
    net.body[1].eval()
    outputs(net, images(2))
    assert (net.training, net.body[1].training, net.body[3].training) == (True, False, True)


def test_bytes_become_numbers() -> None:
    net = Tiny().float()
    X = np.arange(32, dtype=np.uint8).reshape(2, 1, 4, 4)
    assert outputs(net, X).features == pytest.approx(
        outputs(net, X.astype(np.float32)).features, rel=1e-6
    )
    with pytest.raises(DataError, match="Expected examples"):
        outputs(net, X[:0])


def test_states_go_into_a_copy() -> None:
    model, X = Tiny(seed=0), images(3)
    before = outputs(model, X).features
    states: list[Checkpoint] = [Tiny(seed=1).state_dict(), Tiny(seed=2)]
    first, second = (outputs(net, X).features for net in restored(states, model))
    assert (first == outputs(Tiny(seed=1), X).features).all()
    assert (second == outputs(Tiny(seed=2), X).features).all()
    assert (outputs(model, X).features == before).all()
    with pytest.raises(OptionError, match="give model="):
        list(restored(states, None))
    with pytest.raises(OptionError, match="does not fit"):
        list(restored([Tiny(classes=4).state_dict()], model))
