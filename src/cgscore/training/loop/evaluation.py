"""What a network says of examples: loss, correctness and the probability of every class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from cgscore.execution.progress import Advance, ignore
from cgscore.training.loop.checkpoints import evaluated
from cgscore.training.loop.inputs import Inputs

TOGETHER = 256  # examples evaluated at a time


@dataclass(frozen=True)
class Evaluation:
    """Of n examples and k classes.

    Attributes
    ----------
    loss : (n,) array of float32
        Cross-entropy of the given label.
    correct : (n,) array of bool
        Whether the given label has the largest output, the first of equals.
    probability : (n, k) array of float32
        The softmax of the outputs.
    """

    loss: NDArray[np.float32]
    correct: NDArray[np.bool_]
    probability: NDArray[np.float32]


@torch.no_grad()
def passed(
    model: nn.Module,
    layer: Callable[[Tensor], Tensor],
    inputs: Inputs,
    device: torch.device,
    advance: Advance = ignore,
) -> Tensor:
    """What a layer of `model` gives for every example, not augmented; on the CPU.

    The model is on `device`. It is evaluated in its mode for that, and put back.
    """
    parts = []
    with evaluated(model):
        for start in range(0, len(inputs), TOGETHER):
            batch = inputs.batch(slice(start, start + TOGETHER))
            parts.append(layer(batch.to(device)).cpu())
            advance(len(batch))
    return torch.cat(parts)


def evaluate(
    model: nn.Module,
    inputs: Inputs,
    codes: NDArray[np.intp],
    device: torch.device,
    advance: Advance = ignore,
) -> Evaluation:
    """Loss, correctness and probabilities of every example; `own` is the class of each."""
    found = passed(model, model, inputs, device, advance).float()
    labels = torch.as_tensor(codes, dtype=torch.long)
    return Evaluation(
        functional.cross_entropy(found, labels, reduction="none").numpy(),
        (found.argmax(dim=1) == labels).numpy(),
        functional.softmax(found, dim=1).numpy(),
    )
