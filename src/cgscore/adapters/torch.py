"""Torch and Lightning: subsets of datasets, loaders of them, samplers with weights.

`cgscore.score` takes datasets of torch and data modules of Lightning as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cgscore.data.objects import training_loader
from cgscore.errors import OptionError
from cgscore.result import Scores

if TYPE_CHECKING:
    from torch.utils.data import DataLoader, Subset, WeightedRandomSampler


def subset(dataset: Any, kept: ArrayLike) -> Subset[Any]:
    """The examples at these positions of a map-style dataset."""
    from torch.utils.data import Subset

    positions = np.asarray(kept)
    if positions.dtype == bool:
        positions = np.flatnonzero(positions)
    if len(positions) and not 0 <= positions.min() <= positions.max() < len(dataset):
        raise OptionError(
            f"Positions from {positions.min()} to {positions.max()} do not fit a dataset of "
            f"{len(dataset):,} examples."
        )
    return Subset(dataset, positions.tolist())


def pruned_loader(loader: Any, kept: ArrayLike) -> DataLoader[Any]:
    """A loader like the given one, of the examples at these positions of its dataset.

    `loader` may be a data module of Lightning: then it is the one of its training data.
    """
    from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

    if hasattr(loader, "train_dataloader"):
        loader = training_loader(loader)
    if not isinstance(loader.sampler, RandomSampler | SequentialSampler):
        raise OptionError(
            f"The loader draws with a {type(loader.sampler).__name__}, which knows nothing of what "
            "is kept. Make one of subset(dataset, kept)."
        )
    return DataLoader(
        subset(loader.dataset, kept),
        batch_size=loader.batch_size,
        shuffle=isinstance(loader.sampler, RandomSampler),
        num_workers=loader.num_workers,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        drop_last=loader.drop_last,
        timeout=loader.timeout,
        worker_init_fn=loader.worker_init_fn,
        generator=loader.generator,
        persistent_workers=loader.persistent_workers,
    )


def weighted_sampler(
    scores: Scores,
    by: str | ArrayLike = "label_score",
    *,
    balanced: bool = False,
    num_samples: int | None = None,
    seed: int | None = None,
) -> WeightedRandomSampler:
    """A sampler that draws examples by their score.

    Parameters
    ----------
    scores : Scores
        The result for the dataset of the loader.
    by : str or (n,) array
        Weights, as for `Scores.values`; by default the probability that a label is right, so that
        suspects are rarely drawn.
    balanced : bool
        Draw every class as often as any other.
    num_samples : int, optional
        Drawn in an epoch; by default as many as there are examples.
    seed : int, optional
        Of the draws; by default torch's own generator makes them.
    """
    import torch
    from torch.utils.data import WeightedRandomSampler

    weights = np.array(scores.values(by), np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise OptionError(f"by={by!r} gives no weights: expected finite numbers from 0 up.")
    if balanced:
        own = scores.own()
        total = np.bincount(own, weights, minlength=len(scores.classes))
        weights /= np.where(total > 0, total, 1.0)[own]
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return WeightedRandomSampler(
        weights.tolist(), num_samples or len(weights), replacement=True, generator=generator
    )
