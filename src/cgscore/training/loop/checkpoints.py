"""Networks at several times of their training: modules, or state dicts of one network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeAlias

from torch import nn

from cgscore.errors import OptionError

Checkpoint: TypeAlias = nn.Module | Mapping[str, Any]


def restored(checkpoints: Iterable[Checkpoint], model: nn.Module | None) -> Iterator[nn.Module]:
    """The network of each checkpoint in turn.

    Parameters
    ----------
    checkpoints : iterable of modules or state dicts
    model : module, optional
        State dicts are loaded into one copy of it, which is reused for the next one.
    """
    network = None
    for checkpoint in checkpoints:
        if not isinstance(checkpoint, Mapping):
            yield checkpoint
            continue
        if model is None:
            raise OptionError("checkpoints has a state dict. Give its network as model=.")
        network = network or deepcopy(model)
        try:
            network.load_state_dict(dict(checkpoint))
        except RuntimeError as error:
            raise OptionError(f"A state dict does not fit model=: {error}") from error
        yield network


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[nn.Module]:
    """The network without dropout and with fixed statistics; its modes are restored afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield model
    finally:
        for module, mode in modes:
            module.training = mode
