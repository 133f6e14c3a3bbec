"""Networks: published sizes, the layer before the last, weights from a seed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import OptionError

torch = pytest.importorskip("torch")

from cgscore.training.loop.inputs import Scale  # noqa: E402
from cgscore.training.loop.presets import FINE_TUNING, PRESETS, Preset, Settings, preset  # noqa: E402
from cgscore.training.models import (  # noqa: E402
    Classifier,
    densenet_bc100,
    resnet18,
    resnet50,
)
from cgscore.training.scores.reselection import Craig  # noqa: E402
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


def test_images_are_halved_three_times_and_not_before() -> None:
    sides: list[int] = []
    model = resnet18(10, width=4, channels=1).eval()
    assert model.stem[0].kernel_size == (3, 3)
    for part in (model.stem, *model.stages):
        part.register_forward_hook(lambda _, __, found: sides.append(found.shape[-1]))
    model(torch.zeros(1, 1, 28, 28))
    assert sides == [28, 28, 14, 7, 4]


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


def test_two_layers_are_those_of_the_theory() -> None:
    model = two_layer(5, 1000, kappa=0.1, seed=3)
    w, a = model.hidden.weight.detach().numpy(), model.head.weight.numpy()
    assert set(np.unique(a)) == {-1.0, 1.0}
    assert abs(a.mean()) < 0.15
    assert w.std() == pytest.approx(0.1, rel=0.05)
    x = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    by_hand = np.maximum(x @ w.T, 0) @ a.T / np.sqrt(1000)
    found = model(torch.tensor(x))
    assert np.allclose(found.detach().numpy(), by_hand, atol=1e-6)
    found.sum().backward()
    trained = [name for name, weight in model.named_parameters() if weight.grad is not None]
    assert trained == ["hidden.weight"]
    with pytest.raises(OptionError, match="kappa=0"):
        two_layer(5, 10, kappa=0)


def test_presets() -> None:
    paper = {
        name: (found.model, found.settings.epochs, found.settings.learning_rate)
        for name, found in PRESETS["paper"].items()
    }
    assert paper == {
        "fashion-mnist": ("resnet18", 100, 0.02),
        "cifar-10": ("resnet18", 200, 0.05),
        "cifar-100": ("resnet50", 200, 0.1),
    }
    for found in PRESETS["paper"].values():
        told = found.settings
        assert (told.batch_size, told.optimiser, told.momentum) == (128, "sgd", 0.9)
        assert (told.weight_decay, told.schedule, told.augment) == (5e-4, "cosine", True)
        assert found.width is found.examples is None
        assert (found.runs, found.early, found.feature_epoch) == (5, 20, 10)
        assert (found.validation, found.craig(0.3)) == (1000, Craig(0.3, every=10))
    assert PRESETS["paper"]["fashion-mnist"].tracin_epochs == (20, 40, 60, 80, 100)
    for name in ("cifar-10", "cifar-100"):
        assert PRESETS["paper"][name].tracin_epochs == tuple(range(20, 201, 20))
    assert Settings(10, 1e-5, 128, "adam", 0.9, 0.0, "constant", True) == FINE_TUNING
    desk = preset("desk")
    assert desk == preset("desk", "cifar-100")
    assert (desk.early, desk.tracin_epochs) == (2, (2, 4, 6, 8, 10))
    with pytest.raises(OptionError, match="early=20 does not fit a training of 10 epochs"):
        Preset("resnet18", Settings(10, 0.1))
    with pytest.raises(OptionError, match="runs=0"):
        replace(desk, runs=0)
    with pytest.raises(OptionError, match="no preset 'paper' for None"):
        preset("paper")
    assert size(desk.build(10, channels=1)) == size(resnet18(10, width=8, channels=1))
    with pytest.raises(OptionError, match="Choose from: paper, desk"):
        preset("large", "cifar-10")
    with pytest.raises(OptionError, match=r"fashion-mnist, cifar-10, cifar-100"):
        preset("paper", "imagenet")
    for wrong in (
        {"optimiser": "lion"},
        {"schedule": "step"},
        {"epochs": 0},
        {"batch_size": 1},
        {"learning_rate": 0.0},
        {"momentum": 1.0},
        {"weight_decay": -1.0},
    ):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            Settings(**{"epochs": 1, "learning_rate": 0.1, **wrong})  # type: ignore[arg-type]


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Vision Transformer of tiny random weights, as a saved model."""
    transformers = pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("vit")
    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=12,
        patch_size=4,
    )
    with torch.random.fork_rng(devices=[]):
        transformers.ViTForImageClassification(config).save_pretrained(path)
    transformers.ViTImageProcessor(
        size={"height": 12, "width": 12}, image_mean=[0.1, 0.2, 0.3], image_std=[0.5, 0.6, 0.7]
    ).save_pretrained(path)
    return path


def test_a_vision_transformer_is_read_from_its_folder(folder: Path) -> None:
    from transformers import ViTModel

    from cgscore.training.networks.vit import vision_transformer

    state = torch.get_rng_state()
    model = vision_transformer(str(folder), 4).eval()
    assert torch.equal(torch.get_rng_state(), state)
    true = ViTModel.from_pretrained(folder, add_pooling_layer=False).eval()
    x = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.equal(model.features(x), true(x).last_hidden_state[:, 0])
        larger = torch.nn.functional.interpolate(x, (20, 20), mode="bicubic")
        fitted = torch.nn.functional.interpolate(larger, (12, 12), mode="bicubic", antialias=True)
        assert torch.allclose(model.features(larger), model.features(fitted))
        grey = x[:, :1]
        assert torch.equal(model.features(grey), model.features(grey.expand(-1, 3, -1, -1)))
        assert torch.equal(model(x), torch.zeros(2, 4))  # the new layer knows nothing yet
    assert model.scale == Scale((0.1, 0.2, 0.3), (0.5, 0.6, 0.7))


def test_a_vision_transformer_is_fine_tuned(folder: Path) -> None:
    from cgscore.training.loop.trainer import train
    from cgscore.training.networks.vit import vision_transformer

    rng = np.random.default_rng(0)
    y = np.arange(16) % 2
    X = (rng.random((16, 6, 6)) * 100 + 150 * y[:, None, None]).astype(np.uint8)
    given = vision_transformer(str(folder), 2)
    settings = Settings(6, 0.01, 8, "adam", weight_decay=0.0, schedule="constant")
    found = train(given, X, y, settings=settings)
    assert found.scale == given.scale
    assert found.records is not None
    assert found.records.loss[-1].mean() < found.records.loss[0].mean() < np.log(2)
    assert found.records.correct[-1].all()
    for name, weight in given.named_parameters():  # not the last layer alone
        if name.endswith("query.weight") or "patch_embeddings" in name:
            assert not torch.equal(weight, found.model.get_parameter(name)), name


def test_what_is_no_vision_transformer(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file
    from transformers import BertConfig

    from cgscore.training.networks.vit import vision_transformer

    BertConfig().save_pretrained(tmp_path / "text")
    with pytest.raises(OptionError, match=r"type 'bert'. Expected 'vit'"):
        vision_transformer(str(tmp_path / "text"), 2)
    with pytest.raises(OptionError, match="transformers cannot load"):
        vision_transformer(str(tmp_path / "nothing"), 2)
    weights = load_file(folder / "model.safetensors")
    for name in ("pickled", "lacking"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_bytes((folder / "config.json").read_bytes())
    torch.save(weights, tmp_path / "pickled" / "pytorch_model.bin")
    some = {name: value for name, value in weights.items() if "layernorm" not in name}
    save_file(some, tmp_path / "lacking" / "model.safetensors")
    with pytest.raises(OptionError, match="safetensors"):
        vision_transformer(str(tmp_path / "pickled"), 2)
    with pytest.raises(OptionError, match="made up at random"):
        vision_transformer(str(tmp_path / "lacking"), 2)
