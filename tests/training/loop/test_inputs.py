"""Examples as a network reads them: channels and scale."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError

torch = pytest.importorskip("torch")

from cgscore.training.loop.inputs import Inputs  # noqa: E402
from cgscore.training.networks.scale import Scale  # noqa: E402

ALL = slice(None)


def test_images_are_normalised_by_channel() -> None:
    X = np.random.default_rng(0).integers(0, 256, (2100, 4, 5, 3), dtype=np.uint8)
    X[..., 1] //= 3
    X[..., 2] = 77
    inputs = Inputs(X)
    assert inputs.values.dtype == torch.uint8
    batch = inputs.batch(ALL)
    assert batch.shape == (2100, 3, 4, 5)
    assert batch.dtype == torch.float32
    unit = X / 255
    assert inputs.scale is not None
    assert inputs.scale.mean == pytest.approx(tuple(unit.mean(axis=(0, 1, 2))))
    assert inputs.scale.deviation == pytest.approx((unit[..., 0].std(), unit[..., 1].std(), 1.0))
    by_hand = (unit - inputs.scale.mean) / inputs.scale.deviation
    assert np.allclose(batch.permute(0, 2, 3, 1), by_hand, atol=1e-5)
    first = Inputs(X.transpose(0, 3, 1, 2)).batch(torch.tensor([5, 3]))
    assert torch.equal(first, batch[[5, 3]])
    other = Inputs(X, scale=Scale((0.0,) * 3, (1.0,) * 3)).batch(ALL)
    assert np.allclose(other.permute(0, 2, 3, 1), unit, atol=1e-6)


def test_black_is_padded_before_normalising() -> None:
    X = np.full((20, 5, 5), 200, np.uint8)
    X[:10] = 100
    inputs = Inputs(X)
    found = inputs.batch(slice(0, 10), torch.Generator().manual_seed(0))
    assert found.shape == (10, 1, 5, 5)
    assert np.allclose(np.unique(found.numpy()), [-3, -1], atol=1e-5)


def test_numbers_are_taken_as_they_are() -> None:
    X = np.random.default_rng(0).standard_normal((6, 3))
    inputs = Inputs(X)
    assert inputs.scale is None
    assert np.array_equal(inputs.batch(ALL), X.astype(np.float32))
    assert torch.equal(inputs.batch(ALL, torch.Generator()), inputs.batch(ALL))


def test_what_cannot_be_used() -> None:
    images = np.zeros((3, 4, 4))
    images[1, 2, 2] = np.nan
    with pytest.raises(DataError, match="not finite in 1 examples, the first at position 1"):
        Inputs(images)
    with pytest.raises(DataError, match=r"shape \(3, 4, 5, 6\). Expected 1 or 3 channels"):
        Inputs(np.zeros((3, 4, 5, 6)))
    with pytest.raises(DataError, match=r"X_test is an array of float64 of the shape \(3,\)"):
        Inputs(np.zeros(3), name="X_test")
    with pytest.raises(DataError, match=r"images of 3 channels\. Expected 1"):
        Inputs(np.zeros((2, 3, 4, 4)), scale=Scale((0.0,), (1.0,)))
