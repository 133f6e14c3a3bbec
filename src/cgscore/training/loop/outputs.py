"""What a network says of examples around its last layer: what that is given, and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cgscore.execution.accelerator import usable
from cgscore.training.loop.evaluation import passed
from cgscore.training.loop.inputs import Given, as_inputs


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


def outputs(model: nn.Module, X: Given, *, device: str = "cpu") -> Outputs:
    """Features and probabilities of every example.

    Parameters
    ----------
    model : module
        With ``features(x)`` and ``head``; it is moved to `device` and evaluated, not trained.
    X : Inputs, array or tensor
        Arrays are taken as they are.
    """
    place = usable(device)
    net = cast(Any, model.to(place))
    features = passed(model, net.features, as_inputs(X), place).flatten(1)
    with torch.no_grad():
        # in float64, or confident outputs would all be exactly 1
        found: Tensor = net.head(features.to(place)).cpu().double().softmax(dim=1)
    return Outputs(features.numpy(), found.numpy())
