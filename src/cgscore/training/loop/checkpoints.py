"""Networks at moments of their training: as modules of their own, or as saved states of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeAlias

from torch import nn

from cgscore.errors import OptionError

Checkpoint: TypeAlias = nn.Module | Mapping[str, Any]


def restored(checkpoints: Iterable[Checkpoint], model: nn.Module | None) -> Iterator[nn.Module]:
    """The network of every checkpoint in turn.

    Parameters
    ----------
    checkpoints : iterable of modules or state dicts
    model : module, optional
        What state dicts are loaded into: a copy of it, which is used again for the next one.
    """
    vessel = None
    for one in checkpoints:
        if not isinstance(one, Mapping):
            yield one
            continue
        if model is None:
            raise OptionError("A state dict needs a network to be loaded into: give model=.")
        vessel = vessel or deepcopy(model)
        try:
            vessel.load_state_dict(dict(one))
        except RuntimeError as error:
            raise OptionError(f"A state dict does not fit model=: {error}") from error
        yield vessel


@contextmanager
def evaluated(model: nn.Module) -> Iterator[nn.Module]:
    """The network in evaluation mode: no dropout, fixed statistics; afterwards as it was."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield model
    finally:
        for module, mode in modes:
            module.training = mode
