"""The number of steps of a training, and the learning rate, examples and seeds of each step."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from cgscore.training.loop.settings import Settings

WARM_UP_SHARE = 0.2  # of all steps, over which ``triangular`` raises the learning rate

ORDER, AUGMENTATION, LAYERS, TRAINING = range(4)  # purposes of random numbers


def step_count(settings: Settings, n: int) -> int:
    """Steps of a training on n examples, or on any subset of them.

    Subsets are trained for as many steps as all examples, so that they compare fairly (the paper,
    appendix on experimental details).
    """
    return settings.epochs * steps_per_epoch(settings, n)


def steps_per_epoch(settings: Settings, n: int) -> int:
    """``ceil(n / batch_size)``."""
    return math.ceil(n / settings.batch_size)


def learning_rate(settings: Settings, step: int, steps: int) -> float:
    """The learning rate of a step, counted from 0.

    ``cosine`` is ``rate (1 + cos(pi step / steps)) / 2``, updated at every step (Loshchilov and
    Hutter, 2017, without restarts). ``triangular`` is ``rate min(u / w, (1 - u) / (1 - w))``, where
    ``u = (step + 1) / (steps + 1)`` and w is `WARM_UP_SHARE`: no step has the rate 0.
    """
    if settings.schedule == "constant":
        return settings.learning_rate
    if settings.schedule == "triangular":
        u = (step + 1) / (steps + 1)
        return settings.learning_rate * min(u / WARM_UP_SHARE, (1 - u) / (1 - WARM_UP_SHARE))
    return settings.learning_rate * (1 + math.cos(math.pi * step / steps)) / 2


def rate_of_epoch(settings: Settings, n: int, epoch: int) -> float:
    """The learning rate of the last step of an epoch, counted from 1."""
    last = epoch * steps_per_epoch(settings, n) - 1
    return learning_rate(settings, last, step_count(settings, n))


def generator(seed: int, purpose: int, step: int) -> torch.Generator:
    """A generator that is a function of these three numbers."""
    return torch.Generator().manual_seed(derived_seed(seed, purpose, step))


def derived_seed(seed: int, purpose: int, step: int) -> int:
    """A seed that is a function of these three numbers."""
    return int(np.random.SeedSequence((seed, purpose, step)).generate_state(1, np.uint64)[0] >> 1)


class Batches:
    """The rows of every step: repeated passes over `rows`, each in a new random order.

    The last batch of a pass may be smaller. If it would have a single example it is dropped, as
    batch normalisation cannot be trained on it.

    Parameters
    ----------
    rows : (m,) tensor
        Positions of the examples.
    size : int
        Examples per batch.
    seed : int
        Seed of the orders.
    first_step : int
        The step at which training on these rows begins.
    """

    def __init__(self, rows: Tensor, size: int, seed: int, first_step: int = 0) -> None:
        self._rows, self._size, self._seed, self._first_step = rows, size, seed, first_step
        self._per_pass = (len(rows) + size - 2) // size
        self._pass, self._order = -1, rows

    def __getitem__(self, step: int) -> Tensor:
        """The rows of a step."""
        number, place = divmod(step - self._first_step, self._per_pass)
        if number != self._pass:
            # There are fewer passes than steps, so passes over later rows get other numbers.
            draw = generator(self._seed, ORDER, self._first_step + number)
            order = torch.randperm(len(self._rows), generator=draw)
            self._pass, self._order = number, self._rows[order]
        return self._order[place * self._size : (place + 1) * self._size]
