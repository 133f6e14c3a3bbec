"""GraNd: the norm of the gradient of an example's loss with respect to the parameters.

The loss is the cross-entropy and the norm is Euclidean over all parameters. The score is the mean
over networks of independent trainings at one epoch (paper, section 3.2; Paul et al., 2021). They
are in evaluation mode, so that an example's gradient does not depend on the rest of its batch.

For the last layer alone the gradient is ``(p - y) (f, 1)^T``, of norm ``|p - y| sqrt(|f|^2 + 1)``:
no automatic differentiation is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from cgscore.errors import DataError
from cgscore.execution.accelerator import usable
from cgscore.training.loop.checkpoints import Checkpoint, evaluation_mode, restored
from cgscore.training.loop.inputs import InputsLike, as_inputs
from cgscore.training.loop.outputs import Outputs
from cgscore.training.networks.gradients import PEAK_FACTOR, ExampleGradients, count_within
from cgscore.training.scores.residuals import class_columns, residuals
from cgscore.typing import Array


def grand(
    checkpoints: Iterable[Checkpoint],
    X: InputsLike,
    labels: ArrayLike,
    *,
    model: nn.Module | None = None,
    memory_limit: int | str = "1GB",
    device: str = "cpu",
) -> Array:
    """Mean gradient norm of every example.

    Parameters
    ----------
    checkpoints : iterable of modules or state dicts
        One network of each training.
    X : Inputs, array or tensor
        Arrays are used without normalisation.
    labels : (n,) array
        Classes, as columns of the outputs.
    model : module, optional
        The network of the state dicts.
    memory_limit : int or str
        Bytes for gradients that are in memory at the same time; activations come on top.
    device : str
        Torch device to compute on.

    Returns
    -------
    (n,) array
    """
    place, inputs = usable(device), as_inputs(X)
    norms = []
    for network in restored(checkpoints, model):
        with evaluation_mode(network.to(place)):
            gradients = ExampleGradients(network)
            k = gradients.output_count(inputs.batch(slice(0, 1)).to(place))
            y = torch.as_tensor(class_columns(labels, len(inputs), k), dtype=torch.long)
            step = count_within(memory_limit, PEAK_FACTOR * gradients.bytes)
            parts = [slice(start, start + step) for start in range(0, len(inputs), step)]
            by_part = [
                gradients.loss_gradient_norms(inputs.batch(part).to(place), y[part].to(place))
                for part in parts
            ]
            norms.append(torch.cat(by_part).cpu().numpy())
    if not norms:
        raise DataError("checkpoints is empty. Expected one or more networks.")
    mean: Array = np.mean(norms, axis=0, dtype=np.float64)
    return mean


def grand_last_layer(runs: Iterable[Outputs], labels: ArrayLike, *, bias: bool = True) -> Array:
    """Mean norm of the last layer's gradient for every example.

    Parameters
    ----------
    runs : iterable of Outputs
        Features and softmax outputs of one network of each training.
    labels : (n,) array
        Classes, as columns of the outputs.
    bias : bool
        Whether the last layer has a bias.

    Returns
    -------
    (n,) array
    """
    norms: list[Any] = [
        np.linalg.norm(residuals(run.probability, labels), axis=1)
        * np.sqrt(np.square(run.features, dtype=np.float64).sum(axis=1) + bias)
        for run in runs
    ]
    if not norms:
        raise DataError("runs is empty. Expected outputs of one or more networks.")
    mean: Array = np.mean(norms, axis=0)
    return mean
