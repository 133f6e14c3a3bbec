"""Evaluation of a network: loss, correctness and class probabilities of every example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from cgscore.execution.progress import Advance, ignore
from cgscore.training.loop.checkpoints import evaluation_mode
from cgscore.training.loop.inputs import Inputs

BATCH_SIZE = 256  # examples evaluated at a time


@dataclass(frozen=True)
class Evaluation:
    """Outputs of a network for n examples and k classes.

    Attributes
    ----------
    loss : (n,) array of float32
        Cross-entropy of the given label.
    correct : (n,) array of bool
        Whether the given label has the largest output (the first of equal ones).
    probability : (n, k) array of float32
        Softmax of the outputs.
    """

    loss: NDArray[np.float32]
    correct: NDArray[np.bool_]
    probability: NDArray[np.float32]


@torch.no_grad()
def layer_outputs(
    model: nn.Module,
    layer: Callable[[Tensor], Tensor],
    inputs: Inputs,
    device: torch.device,
    advance: Advance = ignore,
    *,
    batch_size: int = BATCH_SIZE,
) -> Tensor:
    """Outputs of a layer of `model` for every example, without augmentation; on the CPU.

    The model must be on `device`. It is evaluated in evaluation mode; its mode is restored.
    """
    parts = []
    with evaluation_mode(model):
        for start in range(0, len(inputs), batch_size):
            batch = inputs.batch(slice(start, start + batch_size))
            parts.append(layer(batch.to(device)).cpu())
            advance(len(batch))
    return torch.cat(parts)


def evaluate(
    model: nn.Module,
    inputs: Inputs,
    codes: NDArray[np.intp],
    device: torch.device,
    advance: Advance = ignore,
    *,
    mirrored: bool = False,
) -> Evaluation:
    """Loss, correctness and probabilities of every example; `codes` are the given classes.

    Outputs are means over an image and its mirror image if `mirrored`.
    """

    def mean_output(images: Tensor) -> Tensor:
        both: Tensor = model(images) + model(images.flip(-1))
        return both / 2

    layer = mean_output if mirrored else model
    logits = layer_outputs(model, layer, inputs, device, advance).float()
    labels = torch.as_tensor(codes, dtype=torch.long)
    return Evaluation(
        functional.cross_entropy(logits, labels, reduction="none").numpy(),
        (logits.argmax(dim=1) == labels).numpy(),
        functional.softmax(logits, dim=1).numpy(),
    )
