"""What a network says of examples: features before its last layer, and probabilities after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError
from cgscore.execution.accelerator import usable
from cgscore.training.checkpoints import evaluated
from cgscore.training.requirement import require_torch

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Outputs:
    """Outputs for n examples.

    Attributes
    ----------
    features : (n, d) array
        What the last layer is given.
    probability : (n, k) array
        Softmax of what it returns.
    """

    features: NDArray[Any]
    probability: NDArray[Any]


def as_tensor(X: Any) -> Tensor:
    """Inputs as a tensor, integers as float32; examples along the first axis."""
    import torch

    tensor = X.detach() if isinstance(X, torch.Tensor) else torch.as_tensor(np.asarray(X))
    if not tensor.ndim or not len(tensor):
        raise DataError(f"X has the shape {tuple(tensor.shape)}. Expected one or more examples.")
    return tensor if tensor.is_floating_point() else tensor.float()


def outputs(
    model: nn.Module, X: ArrayLike | Tensor, *, batch: int = 256, device: str = "cpu"
) -> Outputs:
    """Features and probabilities of every example, by batches.

    Parameters
    ----------
    model : module
        With ``features(x)`` and ``head``; it is moved to `device` and evaluated, not trained.
    X : (n, ...) array or tensor
        Inputs as the network takes them.
    """
    require_torch("Encoding by a network")
    import torch

    place = usable(device)
    inputs = as_tensor(X)
    features, probability = [], []
    net: Any = model.to(place)
    with evaluated(model), torch.no_grad():
        for part in torch.split(inputs, batch):
            f = net.features(part.to(place))
            features.append(f.flatten(1).cpu().numpy())
            probability.append(net.head(f).softmax(dim=1).cpu().numpy())
    return Outputs(np.concatenate(features), np.concatenate(probability))
