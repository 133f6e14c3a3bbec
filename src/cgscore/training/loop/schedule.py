"""How many steps a training has, and the learning rate, examples and seeds of each."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from cgscore.training.loop.presets import Settings

ORDER, AUGMENTATION, LAYERS, TRAINING = range(4)  # what is drawn at random


def steps_of(settings: Settings, n: int) -> int:
    """Steps of a training: those of all n examples, whatever part of them is trained on.

    So subsets are compared fairly (the paper, appendix on experimental details).
    """
    return settings.epochs * steps_of_epoch(settings, n)


def steps_of_epoch(settings: Settings, n: int) -> int:
    """``ceil(n / batch_size)``."""
    return math.ceil(n / settings.batch_size)


def learning_rate(settings: Settings, step: int, steps: int) -> float:
    """The learning rate of a step, counted from 0.

    ``cosine`` is ``rate (1 + cos(pi step / steps)) / 2``, renewed at every step (Loshchilov and
    Hutter, 2017, without restarts).
    """
    if settings.schedule == "constant":
        return settings.learning_rate
    return settings.learning_rate * (1 + math.cos(math.pi * step / steps)) / 2


def rate_of_epoch(settings: Settings, n: int, epoch: int) -> float:
    """The learning rate of the last step of an epoch, counted from 1."""
    last = epoch * steps_of_epoch(settings, n) - 1
    return learning_rate(settings, last, steps_of(settings, n))


def generator(seed: int, what: int, step: int) -> torch.Generator:
    """A generator that depends on the three numbers alone."""
    return torch.Generator().manual_seed(derived_seed(seed, what, step))


def derived_seed(seed: int, what: int, step: int) -> int:
    """A seed that depends on the three numbers alone."""
    return int(np.random.SeedSequence((seed, what, step)).generate_state(1, np.uint64)[0] >> 1)


class Batches:
    """Which of the rows each step is trained on: pass after pass, each in an order of its own.

    `since` is the first step of these rows. The last batch of a pass is as small as it comes. One
    of a single example is left out, as batch normalisation could not use it.
    """

    def __init__(self, rows: Tensor, size: int, seed: int, since: int = 0) -> None:
        self._rows, self._size, self._seed, self._since = rows, size, seed, since
        self._of_pass = (len(rows) + size - 2) // size
        self._pass, self._order = -1, rows

    def __getitem__(self, step: int) -> Tensor:
        """The rows of a step."""
        number, place = divmod(step - self._since, self._of_pass)
        if number != self._pass:
            # Passes are fewer than steps, so that those of later rows have numbers of their own.
            draw = generator(self._seed, ORDER, self._since + number)
            drawn = torch.randperm(len(self._rows), generator=draw)
            self._pass, self._order = number, self._rows[drawn]
        return self._order[place * self._size : (place + 1) * self._size]
