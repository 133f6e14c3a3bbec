"""Outputs of a network: the features that its last layer reads, and class probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cgscore.execution.accelerator import usable
from cgscore.training.loop.evaluation import BATCH_SIZE, layer_outputs
from cgscore.training.loop.inputs import InputsLike, as_inputs


@dataclass(frozen=True)
class Outputs:
    """Outputs for n examples.

    Attributes
    ----------
    features : (n, d) array
        Input of the last layer.
    probability : (n, k) array
        Softmax of its output.
    """

    features: NDArray[Any]
    probability: NDArray[Any]


def outputs(
    model: nn.Module, X: InputsLike, *, device: str = "cpu", batch_size: int = BATCH_SIZE
) -> Outputs:
    """Features and probabilities of every example.

    Parameters
    ----------
    model : module
        A network with ``features(x)`` and ``head``. It is moved to `device`.
    X : Inputs, array or tensor
        Arrays are used without normalisation.
    device : str
        Torch device to compute on.
    batch_size : int
        Examples evaluated at a time.
    """
    place = usable(device)
    network = cast(Any, model.to(place))
    features = layer_outputs(
        model, network.features, as_inputs(X), place, batch_size=batch_size
    ).flatten(1)
    with torch.no_grad():
        # in float64: in float32 confident outputs would all be exactly 1
        probability: Tensor = network.head(features.to(place)).cpu().double().softmax(dim=1)
    return Outputs(features.numpy(), probability.numpy())
