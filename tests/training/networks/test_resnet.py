"""ResNets: the sizes of their feature maps."""

from __future__ import annotations

import torch

from cgscore.training.networks.resnet import resnet18


def test_images_are_halved_three_times_and_not_before() -> None:
    sides: list[int] = []
    model = resnet18(10, width=4, channels=1).eval()
    assert model.stem[0].kernel_size == (3, 3)
    for part in (model.stem, *model.stages):
        part.register_forward_hook(lambda _, __, found: sides.append(found.shape[-1]))
    model(torch.zeros(1, 1, 28, 28))
    assert sides == [28, 28, 14, 7, 4]
