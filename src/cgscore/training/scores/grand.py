"""GraNd: the norm of the gradient of an example's loss with respect to the parameters.

The loss is the cross entropy, the norm Euclidean over all parameters, the score its mean over
networks of independent trainings at one epoch (paper, section 3.2; Paul et al., 2021). Networks are
evaluated, so that an example's gradient does not depend on others of its batch.

For the last layer alone the gradient is ``(p - y) (f, 1)^T``, of norm ``|p - y| sqrt(|f|^2 + 1)``:
no automatic derivative is needed.
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
from cgscore.kernel import Array
from cgscore.training.loop.checkpoints import Checkpoint, evaluated, restored
from cgscore.training.loop.inputs import Given, as_inputs
from cgscore.training.loop.outputs import Outputs
from cgscore.training.scores.residuals import class_columns, residuals
from cgscore.training.theory.tangent import MAKING, Tangent, within


def grand(
    checkpoints: Iterable[Checkpoint],
    X: Given,
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
        One network of every training.
    X : Inputs, array or tensor
        Arrays are taken as they are.
    labels : (n,) array
        Classes, as columns of the outputs.
    model : module, optional
        The network that state dicts belong to.
    memory_limit : int or str
        Bytes for the gradients that are computed at once; activations come on top.
    device : str
        Where to compute.

    Returns
    -------
    (n,) array
    """
    place, inputs = usable(device), as_inputs(X)
    norms = []
    for net in restored(checkpoints, model):
        with evaluated(net.to(place)):
            tangent = Tangent(net)
            k = tangent.outputs(inputs.batch(slice(0, 1)).to(place))
            y = torch.as_tensor(class_columns(labels, len(inputs), k), dtype=torch.long)
            step = within(memory_limit, MAKING * tangent.bytes)
            parts = [slice(start, start + step) for start in range(0, len(inputs), step)]
            found = [
                tangent.loss_gradient_norms(inputs.batch(part).to(place), y[part].to(place))
                for part in parts
            ]
            norms.append(torch.cat(found).cpu().numpy())
    if not norms:
        raise DataError("checkpoints is empty. Expected one or more networks.")
    mean: Array = np.mean(norms, axis=0, dtype=np.float64)
    return mean


def grand_last_layer(runs: Iterable[Outputs], labels: ArrayLike, *, bias: bool = True) -> Array:
    """Mean norm of the gradient of the last layer, of every example.

    Parameters
    ----------
    runs : iterable of Outputs
        Features and softmax outputs of one network of every training.
    labels : (n,) array
        Classes, as columns of the outputs.
    bias : bool
        Whether the last layer has a bias.

    Returns
    -------
    (n,) array
    """
    norms: list[Any] = [
        np.linalg.norm(residuals(one.probability, labels), axis=1)
        * np.sqrt(np.square(one.features, dtype=np.float64).sum(axis=1) + bias)
        for one in runs
    ]
    if not norms:
        raise DataError("runs is empty. Expected outputs of one or more networks.")
    mean: Array = np.mean(norms, axis=0)
    return mean
