"""The CG-score of a network's features (paper, appendix H).

The kernel is the same as for inputs; the rows are the outputs of the network's layer before the
last. Unlike the CG-score of the inputs, it needs a network trained for a few epochs, and depends on
that network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike
from torch import nn

from cgscore.api import score
from cgscore.result.scores import Scores
from cgscore.training.loop.checkpoints import Checkpoint, restored
from cgscore.training.loop.inputs import InputsLike
from cgscore.training.loop.outputs import outputs

EPOCHS = (1, 3, 5, 7, 9, 11, 20, 50, 200)  # at which the paper compares it with others


def feature_space_scores(
    X: InputsLike,
    y: ArrayLike,
    checkpoints: Mapping[int, Checkpoint],
    *,
    model: nn.Module | None = None,
    device: str = "cpu",
    **options: Any,
) -> dict[int, Scores]:
    """CG-scores of the features of each checkpoint.

    Parameters
    ----------
    X : Inputs, array or tensor
        ``Inputs(X, scale=trained.scale)`` for a network that `train` returned. Arrays are used
        without normalisation.
    y : (n,) array
        Labels.
    checkpoints : mapping of epochs to modules or state dicts
        For example ``{10: trained.at(10)}``. Modules need ``features(x)`` and ``head``.
    model : module, optional
        The network of the state dicts.
    device : str
        Torch device on which features are computed.
    **options
        Options of `cgscore.score`.

    Returns
    -------
    dict
        `Scores` by epoch.
    """
    by_epoch = {}
    for epoch, network in zip(checkpoints, restored(checkpoints.values(), model), strict=True):
        features = outputs(network, X, device=device).features
        by_epoch[epoch] = score(features, y, **options)
    return by_epoch
