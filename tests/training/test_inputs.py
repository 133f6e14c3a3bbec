"""Examples as a network sees them: channels, scale, shifts and mirrors."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import DataError

torch = pytest.importorskip("torch")

from cgscore.training.loop.augmentation import augmented, moved  # noqa: E402
from cgscore.training.loop.inputs import Inputs, Scale  # noqa: E402

ALL = slice(None)


def test_shifts_and_mirrors_by_hand() -> None:
    image = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=torch.uint8)
    images = image.expand(4, 1, 3, 3)
    top, left = torch.tensor([1, 0, 2, 1]), torch.tensor([1, 1, 0, 2])
    mirrored = torch.tensor([False, False, False, True])
    found = moved(images, top, left, mirrored, pad=1)
    assert found.dtype == torch.uint8
    assert found[:, 0].tolist() == [
        [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
        [[0, 0, 0], [1, 2, 3], [4, 5, 6]],  # one down
        [[0, 4, 5], [0, 7, 8], [0, 0, 0]],  # one up and one to the right
        [[0, 3, 2], [0, 6, 5], [0, 9, 8]],  # one to the left, then mirrored
    ]


def test_channels_move_together() -> None:
    images = torch.arange(1.0, 37).reshape(1, 1, 6, 6).repeat(50, 3, 1, 1)
    images[:, 1] *= 2
    found = augmented(images, torch.Generator().manual_seed(0))
    assert torch.equal(found[:, 1], 2 * found[:, 0])
    assert torch.equal(found[:, 2], found[:, 0])


def test_draws_are_uniform_and_the_generators_own() -> None:
    images = torch.arange(1, 10 * 11 + 1).reshape(1, 1, 10, 11).repeat(4000, 1, 1, 1)
    state = torch.get_rng_state()
    found = augmented(images, torch.Generator().manual_seed(0))
    assert torch.equal(found, augmented(images, torch.Generator().manual_seed(0)))
    assert not torch.equal(found, augmented(images, torch.Generator().manual_seed(1)))
    assert torch.equal(torch.get_rng_state(), state)
    middle = found[:, 0, 4:6, 5]  # always a pixel of the image
    step = found[:, 0, 4, 6] - found[:, 0, 4, 5]
    assert set(step.tolist()) == {-1, 1}  # -1 where mirrored
    assert 1850 < int((step < 0).sum()) < 2150
    tops, lefts = (middle[:, 0] - 1) // 11 - 4, (middle[:, 0] - 1) % 11 - 5
    for shifts in (tops, lefts):
        counts = torch.bincount(shifts + 4)
        assert len(counts) == 9  # -4 to 4
        assert counts.min() > 370


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
    with pytest.raises(DataError, match="not finite in 1 examples, the first is 1"):
        Inputs(images)
    with pytest.raises(DataError, match=r"shape \(3, 4, 5, 6\). Expected 1 or 3 channels"):
        Inputs(np.zeros((3, 4, 5, 6)))
    with pytest.raises(DataError, match=r"X_test is an array of float64 of the shape \(3,\)"):
        Inputs(np.zeros(3), name="X_test")
    with pytest.raises(DataError, match=r"images of 3 channels\. Expected 1"):
        Inputs(np.zeros((2, 3, 4, 4)), scale=Scale((0.0,), (1.0,)))
