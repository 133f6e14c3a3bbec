"""The networks of the pruning experiments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.training import FINE_TUNING, Preset, Settings
from cgscore_paper.cells import Cell, Work
from cgscore_paper.datasets import load
from cgscore_paper.plans import Plan
from cgscore_paper.scored import chosen

if TYPE_CHECKING:
    from torch import nn

#: What each is called in figures.
NETWORKS = {"resnet": "ResNet", "densenet": "DenseNet", "vit": "Vision Transformer"}

#: The paper's, of timm, on the hub of Hugging Face.
PRETRAINED = "google/vit-base-patch16-224"

# The small Vision Transformer of a desk: 16 patches of an image of 16 x 16 pixels.
_BODY: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "patch_size": 4,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
_OTHERS = 30_000
_PRETRAINING = Settings(
    epochs=6,
    learning_rate=1e-3,
    batch_size=64,
    optimiser="adam",
    weight_decay=0.0,
    augment=False,
)
_FINE_TUNING = replace(FINE_TUNING, epochs=3, learning_rate=1e-4, batch_size=64, augment=False)


def network(work: Work, plan: Plan, dataset: str, name: str, seed: int) -> tuple[nn.Module, Preset]:
    """A network with new weights, or the pretrained one, and how it is trained."""
    preset = plan.pruning(dataset)
    channels, k = 1 if "mnist" in dataset else 3, 100 if dataset == "cifar-100" else 10
    if name == "resnet":
        return preset.build(k, channels=channels, seed=seed), preset
    if name == "densenet":
        preset = replace(preset, model="densenet_bc100", width=None)
        if plan.prune_training is not None:  # a hundred layers are slow however narrow
            half = replace(preset.settings, epochs=max(2, preset.settings.epochs // 2))
            preset = replace(preset, width=3, settings=half)
        return preset.build(k, channels=channels, seed=seed), preset
    if name != "vit":
        raise OptionError(f"There is no network {name!r}. Choose from: {', '.join(NETWORKS)}")
    from cgscore.training.networks.vit import vision_transformer

    if plan.prune_training is None:
        return vision_transformer(PRETRAINED, k), replace(preset, settings=FINE_TUNING)
    folder = work.folder / work(pretrained_cell(plan, dataset))["folder"]
    preset = replace(preset, settings=_FINE_TUNING, early=1, feature_epoch=1)
    return vision_transformer(str(folder), k), preset


def pretrained(work: Work, plan: str, dataset: str, seed: int) -> dict[str, Any]:
    """A small Vision Transformer trained on images that no other experiment trains on.

    No weights of a small one can be had without a network connection. Its accuracy is that on the
    test images.
    """
    from transformers import ViTConfig, ViTModel

    from cgscore.execution.accelerator import usable
    from cgscore.training import Inputs, train
    from cgscore.training.loop.evaluation import evaluate
    from cgscore.training.networks.classifier import seeded
    from cgscore.training.networks.vit import VisionTransformer

    made = Plan.named(plan, seed)
    whole, test = load(work.data, dataset), load(work.data, dataset, "test").halved()
    others = np.setdiff1d(np.arange(len(whole)), chosen(made, whole.codes))
    rng = np.random.default_rng([seed, 2])
    seen = whole[np.sort(rng.choice(others, min(_OTHERS, len(others)), replace=False))].halved()
    side, k = seen.X.shape[1], len(whole.names)
    config = ViTConfig(image_size=side, num_channels=seen.X.shape[3], **_BODY)
    model = seeded(
        seed, lambda: VisionTransformer(ViTModel(config, add_pooling_layer=False), k, None)
    )
    trained = train(
        model,
        seen.X,
        seen.codes,
        settings=_PRETRAINING,
        seed=seed,
        records=False,
        progress=False,
        device=work.device,
    )
    found = evaluate(
        trained.model, Inputs(test.X, scale=trained.scale), test.codes, usable(work.device)
    )
    name = f"vit-{dataset}-{seed}"
    body: Any = trained.model.body
    body.cpu().save_pretrained(work.folder / name)
    return {"folder": name, "images": len(seen), "accuracy": float(found.correct.mean())}


def pretrained_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `pretrained`."""
    return Cell("networks.pretrained", {"plan": plan.name, "dataset": dataset, "seed": plan.seed})
