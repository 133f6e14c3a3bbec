"""Networks: published sizes, the layer before the last, weights from a seed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cgscore.training.models import (  # noqa: E402
    Classifier,
    densenet_bc100,
    resnet18,
    resnet50,
)
from cgscore.training.theory.two_layer import two_layer  # noqa: E402


def size(model: Any) -> int:
    return sum(weight.numel() for weight in model.parameters())


def test_sizes_are_the_published_ones() -> None:
    assert size(resnet18(10)) == 11_173_962
    assert size(resnet50(10)) == 23_520_842
    assert size(densenet_bc100(10)) == 769_162
    assert size(resnet18(10)) - size(resnet18(10, channels=1)) == 2 * 64 * 9
    assert size(resnet18(10, width=8)) < size(resnet18(10)) / 60
    convolutions = [m for m in densenet_bc100(10).modules() if isinstance(m, torch.nn.Conv2d)]
    assert len(convolutions) + 1 == 100  # with the last, linear layer


@pytest.mark.parametrize(
    ("model", "width"),
    [
        (resnet18(5, width=4), 32),
        (resnet50(5, width=2), 64),
        (densenet_bc100(5, width=2), 57),
        (two_layer(3 * 8 * 8, 40, num_classes=5), 40),
    ],
)
def test_the_head_reads_the_features(model: Classifier, width: int) -> None:
    x = torch.randn(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    model.eval()
    features = model.features(x)
    assert features.shape == (3, width)
    assert isinstance(model.head, torch.nn.Linear)
    assert torch.equal(model(x), model.head(features))
    assert model(x).shape == (3, 5)
    assert (features[0] != features[1]).any()


def test_weights_follow_from_the_seed_alone() -> None:
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = resnet18(3, width=2)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    again, other = resnet18(3, width=2), resnet18(3, width=2, seed=1)
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.head.weight, other.head.weight)
    stem = resnet18(3, channels=1).get_parameter("stem.0.weight").detach()
    # He et al.: the variance is 2 / (outputs * 9)
    assert float(stem.std()) == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.1)


def test_without_torch_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["torch"] = None
from cgscore.errors import OptionError
try:
    import cgscore.training.models
except OptionError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 'pip install "cgscore[torch]"' in done.stdout, done.stderr
