"""The networks of the pruning experiments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.training import FINE_TUNING, Preset, Settings
from cgscore_paper.cells import Work
from cgscore_paper.datasets import load
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.scores import subset_rows

if TYPE_CHECKING:
    from torch import nn

#: Names of the networks, and their titles in figures.
NETWORKS = {
    "resnet": "ResNet",
    "fast-cnn": "small CNN",
    "densenet": "DenseNet",
    "vit": "Vision Transformer",
    "heads": "heads on features",
}

#: The paper's Vision Transformer, on the hub of Hugging Face.
PRETRAINED = "google/vit-base-patch16-224"

# The small Vision Transformer of the preset desk: 16 patches of an image of 16 x 16 pixels.
_SMALL_TRANSFORMER: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "patch_size": 4,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
_MAX_PRETRAINING_IMAGES = 30_000
_PRETRAINING = Settings(
    epochs=6,
    learning_rate=1e-3,
    batch_size=64,
    optimiser="adam",
    weight_decay=0.0,
    augment=False,
)
# The DenseNet of the preset full: a third of the growth rate, and the paper's kind of settings.
_GROWTH = 4
_DENSE_TRAINING = Settings(epochs=8, learning_rate=0.1, batch_size=128, nesterov=True)
_FINE_TUNING = replace(FINE_TUNING, epochs=3, learning_rate=1e-4, batch_size=64, augment=False)


def scoring(work: Work, plan: Plan, dataset: str) -> Preset:
    """The network and settings for scores that need training."""
    return _precise(work, plan.scoring(dataset))


def _precise(work: Work, preset: Preset) -> Preset:
    return replace(preset, settings=replace(preset.settings, precision=work.precision))


def network(work: Work, plan: Plan, dataset: str, name: str, seed: int) -> tuple[nn.Module, Preset]:
    """A network with new or pretrained weights, and the settings of its training."""
    model, preset = _network(work, plan, dataset, name, seed)
    return model, _precise(work, preset)


def _network(
    work: Work, plan: Plan, dataset: str, name: str, seed: int
) -> tuple[nn.Module, Preset]:
    preset = plan.pruning(dataset)
    channels, k = 1 if "mnist" in dataset else 3, len(load(work.data, dataset).names)
    if name == plan.net:
        return preset.build(k, channels=channels, seed=seed), preset
    if name == "densenet":
        preset = replace(preset, model="densenet_bc100", width=None)
        if plan.background:
            preset = replace(preset, width=_GROWTH, settings=_DENSE_TRAINING, early=1)
        if plan.prune_training is not None:  # a hundred layers are slow at any width
            half = replace(preset.settings, epochs=max(2, preset.settings.epochs // 2))
            preset = replace(preset, width=3, settings=half)
        return preset.build(k, channels=channels, seed=seed), preset
    if name != "vit":
        raise OptionError(f"net must be one of {', '.join(NETWORKS)}; got {name!r}.")
    from cgscore.training.networks.vit import vision_transformer

    if plan.prune_training is None:
        return vision_transformer(PRETRAINED, k), replace(preset, settings=FINE_TUNING)
    folder = work.folder / work(pretrained_cell(plan, dataset))["folder"]
    preset = replace(preset, settings=_FINE_TUNING, early=1, feature_epoch=1)
    return vision_transformer(str(folder), k), preset


@job(
    "trained.vision_transformer",
    version=1,
    sample={"plan": "sample", "dataset": "cifar-10", "seed": 0},
    tolerance=None,  # trainings amplify rounding
)
def pretrained(work: Work, plan: str, dataset: str, seed: int) -> dict[str, Any]:
    """A small Vision Transformer, pretrained on images outside of the training subset.

    It stands in for published weights, which need a network connection. Its weights are in
    ``folder``; ``accuracy`` is that on the test images.
    """
    from transformers import ViTConfig, ViTModel

    from cgscore.execution.accelerator import usable
    from cgscore.training import Inputs, train
    from cgscore.training.loop.evaluation import evaluate
    from cgscore.training.networks.classifier import seeded
    from cgscore.training.networks.vit import VisionTransformer

    sizes = Plan.named(plan, seed)
    whole, test = load(work.data, dataset), load(work.data, dataset, "test").halved()
    others = np.setdiff1d(np.arange(len(whole)), subset_rows(sizes, whole.codes))
    rng = np.random.default_rng([seed, 2])
    train_images = whole[
        np.sort(rng.choice(others, min(_MAX_PRETRAINING_IMAGES, len(others)), replace=False))
    ].halved()
    side, k = train_images.X.shape[1], len(whole.names)
    config = ViTConfig(image_size=side, num_channels=train_images.X.shape[3], **_SMALL_TRANSFORMER)
    model = seeded(
        seed, lambda: VisionTransformer(ViTModel(config, add_pooling_layer=False), k, None)
    )
    trained = train(
        model,
        train_images.X,
        train_images.codes,
        settings=replace(_PRETRAINING, precision=work.precision),
        seed=seed,
        records=False,
        progress=False,
        device=work.device,
    )
    evaluation = evaluate(
        trained.model, Inputs(test.X, scale=trained.scale), test.codes, usable(work.device)
    )
    name = f"vit-{dataset}-{seed}"
    body: Any = trained.model.body
    body.cpu().save_pretrained(work.folder / name)
    return {
        "folder": name,
        "images": len(train_images),
        "accuracy": float(evaluation.correct.mean()),
    }


def pretrained_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `pretrained`."""
    return pretrained.cell(plan=plan.name, dataset=dataset, seed=plan.seed)
