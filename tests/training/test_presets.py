"""Presets: the values of the paper, and the checks of their options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cgscore.errors import OptionError
from cgscore.training.loop.settings import Settings
from cgscore.training.models import resnet18
from cgscore.training.presets import FINE_TUNING, PRESETS, Preset, preset
from cgscore.training.scores.craig import Craig


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
        used = found.settings
        assert (used.batch_size, used.optimiser, used.momentum) == (128, "sgd", 0.9)
        assert (used.weight_decay, used.schedule, used.augment) == (5e-4, "cosine", True)
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
    full = preset("full")
    assert full == preset("full", "fashion-mnist")
    assert (full.model, full.examples, full.settings.epochs) == ("fast_cnn", None, 8)
    with pytest.raises(
        OptionError, match="early must be an epoch of the training, 1 to 10; got 20"
    ):
        Preset("resnet18", Settings(10, 0.1))
    with pytest.raises(OptionError, match="runs must be 1 or larger; got 0"):
        replace(desk, runs=0)
    with pytest.raises(OptionError, match="for the preset 'paper'; got None"):
        preset("paper")
    assert str(desk.build(10, channels=1)) == str(resnet18(10, width=8, channels=1))
    with pytest.raises(OptionError, match="one of paper, full, desk; got 'large'"):
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
        {"shift": -1},
        {"label_smoothing": 1.0},
        {"nesterov": True, "momentum": 0.0},
        {"precision": "float16"},
    ):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            Settings(**{"epochs": 1, "learning_rate": 0.1, **wrong})  # type: ignore[arg-type]
