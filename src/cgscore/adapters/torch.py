"""torch and Lightning: subsets, loaders of subsets, samplers with weights.

`cgscore.score` takes torch datasets and Lightning data modules as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cgscore.data.readers.objects import training_loader
from cgscore.errors import OptionError
from cgscore.result.scores import Scores
from cgscore.selection.orders import as_positions

if TYPE_CHECKING:
    from torch.utils.data import DataLoader, Subset, WeightedRandomSampler


def subset(dataset: Any, kept: ArrayLike) -> Subset[Any]:
    """The examples at these positions of a map-style dataset."""
    from torch.utils.data import Subset

    return Subset(dataset, as_positions(kept, len(dataset)).tolist())


def chosen_subset(
    dataset: Any, scores: Scores, fraction: float, order: str = "auto", **options: Any
) -> Subset[Any]:
    """The share of a map-style dataset that `Scores.keep` chooses.

    Parameters
    ----------
    dataset : Dataset
        What was scored, in the same order.
    scores : Scores
        The scores of this dataset.
    fraction, order
        As for `Scores.keep`; by default suspected label errors go and the rest is ranked.
    **options
        Other options of `Scores.keep`.
    """
    if len(dataset) != len(scores):
        raise OptionError(
            f"The dataset has {len(dataset):,} examples, and {len(scores):,} were scored."
        )
    return subset(dataset, scores.keep(fraction, order, **options))


def pruned_loader(loader: Any, kept: ArrayLike) -> DataLoader[Any]:
    """A loader like the given one, of the examples at these positions of its dataset.

    `loader` may be a Lightning data module; then its training loader is used.
    """
    from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

    if hasattr(loader, "train_dataloader"):
        loader = training_loader(loader)
    sampler = loader.sampler
    shuffled = type(sampler) is RandomSampler and not sampler.replacement
    replaceable = shuffled or type(sampler) is SequentialSampler
    if not replaceable or loader.batch_size is None or len(sampler) != len(loader.dataset):
        raise OptionError(
            f"The loader has its own {type(sampler).__name__} or its own batches, which know "
            "nothing of what is kept. Make a loader of subset(dataset, kept) yourself."
        )
    return DataLoader(
        subset(loader.dataset, kept),
        batch_size=loader.batch_size,
        shuffle=shuffled,
        num_workers=loader.num_workers,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        drop_last=loader.drop_last,
        timeout=loader.timeout,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=loader.multiprocessing_context,
        generator=loader.generator or getattr(sampler, "generator", None),
        prefetch_factor=loader.prefetch_factor,
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
        The scores of the dataset.
    by : str or (n,) array
        Weights, as for `Scores.values`, or one for each example, such as those of `Scores.weights`
        with 0 for what is not kept; by default the probability that a label is right, so that
        suspects are rarely drawn.
    balanced : bool
        Draw all classes equally often; each needs an example with a weight above 0.
    num_samples : int, optional
        Number of draws in an epoch; by default the number of examples.
    seed : int, optional
        Seed of the draws; by default torch's global generator draws.
    """
    import torch
    from torch.utils.data import WeightedRandomSampler

    weights = np.array(scores.values(by), np.float64)
    if num_samples is not None and num_samples < 1:
        raise OptionError(f"num_samples must be 1 or larger; got {num_samples!r}.")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise OptionError(
            f"by={by!r} gives no weights: expected finite numbers, 0 or larger, not all 0."
        )
    if balanced:
        codes = scores.codes()
        total = np.bincount(codes, weights, minlength=len(scores.classes))
        if not total.all():
            empty = scores.classes[np.argmin(total)]
            raise OptionError(f"All weights of the class {empty!r} are 0: it cannot be drawn.")
        weights /= total[codes]
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return WeightedRandomSampler(
        weights.tolist(), num_samples or len(weights), replacement=True, generator=generator
    )
