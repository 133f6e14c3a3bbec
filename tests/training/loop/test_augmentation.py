"""Shifts and mirror images."""

from __future__ import annotations

import torch

from cgscore.training.loop.augmentation import augment, crop


def test_shifts_and_mirrors_by_hand() -> None:
    image = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=torch.uint8)
    images = image.expand(4, 1, 3, 3)
    top, left = torch.tensor([1, 0, 2, 1]), torch.tensor([1, 1, 0, 2])
    mirrored = torch.tensor([False, False, False, True])
    found = crop(images, top, left, mirrored, padding=1)
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
    found = augment(images, torch.Generator().manual_seed(0))
    assert torch.equal(found[:, 1], 2 * found[:, 0])
    assert torch.equal(found[:, 2], found[:, 0])


def test_draws_are_uniform_and_the_generators_own() -> None:
    images = torch.arange(1, 10 * 11 + 1).reshape(1, 1, 10, 11).repeat(4000, 1, 1, 1)
    state = torch.get_rng_state()
    found = augment(images, torch.Generator().manual_seed(0))
    assert torch.equal(found, augment(images, torch.Generator().manual_seed(0)))
    assert not torch.equal(found, augment(images, torch.Generator().manual_seed(1)))
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
