"""The CG-score of features: what a network in training makes of the inputs (paper, appendix H).

The kernel is that of the inputs' scores; only the rows are outputs of the layer before the last.
Unlike the score of the data itself it needs a network that was trained for a few epochs, and
depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike
from torch import nn

from cgscore.api import score
from cgscore.result.scores import Scores
from cgscore.training.loop.checkpoints import Checkpoint, restored
from cgscore.training.loop.inputs import Given
from cgscore.training.loop.outputs import outputs

EPOCHS = (1, 3, 5, 7, 9, 11, 20, 50, 200)  # at which the paper compares it with other scores


def feature_space_scores(
    X: Given,
    y: ArrayLike,
    checkpoints: Mapping[int, Checkpoint],
    *,
    model: nn.Module | None = None,
    device: str = "cpu",
    **options: Any,
) -> dict[int, Scores]:
    """Scores in the features of the layer before the last, epoch by epoch.

    Parameters
    ----------
    X : Inputs, array or tensor
        ``Inputs(X, scale=trained.scale)`` for what `train` trained; arrays are taken as they are.
    y : (n,) array
        Labels.
    checkpoints : mapping of epochs to modules or state dicts
        Modules have ``features(x)`` and ``head``; ``{10: trained.at(10)}`` for example.
    model : module, optional
        The network that state dicts belong to.
    device : str
        Where they are encoded.
    **options
        Given to `cgscore.score`.

    Returns
    -------
    dict
        Epoch -> `Scores`.
    """
    found = {}
    for epoch, net in zip(checkpoints, restored(checkpoints.values(), model), strict=True):
        rows = outputs(net, X, device=device).features
        found[epoch] = score(rows, y, **options)
    return found
