"""The fast network: its size, its whitened first layer, and when that is set."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cgscore.training.loop.settings import Settings
from cgscore.training.loop.trainer import train
from cgscore.training.networks.fast_cnn import fast_cnn
from cgscore.training.networks.gradients import ExampleGradients


def test_size_and_cost_at_width_32() -> None:
    model = fast_cnn(10).eval()
    counts: list[int] = []
    for layer in model.modules():
        if isinstance(layer, torch.nn.Conv2d):
            layer.register_forward_hook(
                lambda layer, _, out: counts.append(out[0, 0].numel() * layer.weight.numel())
            )
    model(torch.zeros(1, 3, 32, 32))
    assert len(counts) == 7
    assert sum(counts) == pytest.approx(33e6, rel=0.03)


@pytest.mark.parametrize(("channels", "side"), [(3, 32), (1, 28), (3, 16)])
def test_first_layer_whitens_patches(channels: int, side: int) -> None:
    rng = torch.Generator().manual_seed(0)
    images = torch.randn(200, channels, side, side, generator=rng).cumsum(3)
    model = fast_cnn(3, width=4, channels=channels)
    model.initialise(images)
    responses = model.whitening(images).detach().permute(0, 2, 3, 1).flatten(0, 2).double()
    half = responses.shape[1] // 2
    torch.testing.assert_close(responses[:, half:], -responses[:, :half])
    moments = responses[:, :half].T @ responses[:, :half] / len(responses)
    torch.testing.assert_close(moments, torch.eye(half).double(), atol=0.02, rtol=0)
    model.eval()
    assert torch.equal(model(images), model.head(model.features(images)))
    assert model(images).shape == (200, 3)


def test_training_sets_the_first_layer_once_and_leaves_it() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (24, 12, 12, 3), np.uint8), np.arange(24) % 3
    settings = Settings(epochs=1, learning_rate=0.1, batch_size=8)
    model = fast_cnn(3, width=2)
    first = train(model, X, y, settings=settings, records=False, progress=False).model
    assert not torch.equal(*(net.get_parameter("whitening.weight") for net in (first, model)))
    second = train(first, 255 - X[::-1], y, settings=settings, records=False, progress=False).model
    assert torch.equal(*(net.get_parameter("whitening.weight") for net in (first, second)))
    assert not torch.equal(*(net.get_parameter("head.weight") for net in (first, second)))


def test_steps_in_bfloat16_are_near_those_in_float32() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (24, 12, 12, 3), np.uint8), np.arange(24) % 3
    full, reduced = (
        train(
            fast_cnn(3, width=2),
            X,
            y,
            settings=Settings(1, 0.01, batch_size=12, precision=precision),
            records=False,
            progress=False,
        ).model.state_dict()
        for precision in ("float32", "bfloat16")
    )
    assert reduced["head.weight"].dtype == torch.float32
    assert not torch.equal(full["head.weight"], reduced["head.weight"])
    torch.testing.assert_close(full["head.weight"], reduced["head.weight"], rtol=0.05, atol=1e-3)


def test_gradients_of_single_examples() -> None:
    images = torch.rand(3, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    model = fast_cnn(2, width=2).eval()
    model.initialise(images)
    blocks = ExampleGradients(model).jacobian(images, step=2)
    trained = [value for value in model.parameters() if value.requires_grad]
    last = torch.autograd.grad(model(images[2:])[0, 1], trained)
    for block, gradient in zip(blocks, last, strict=True):
        torch.testing.assert_close(block[5], gradient.flatten())
