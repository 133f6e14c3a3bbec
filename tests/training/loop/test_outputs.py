"""Features and probabilities of networks."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError
from cgscore.training.loop.outputs import outputs

torch = pytest.importorskip("torch")

from tests.training.tiny import Tiny, images  # noqa: E402


def test_features_and_probabilities_by_batches() -> None:
    net, X = Tiny(), images(7)
    found = outputs(net, X, batch_size=3)
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
    with pytest.raises(DataError, match="Expected one or more examples"):
        outputs(net, X[:0])
