"""Devices of torch."""

from __future__ import annotations

from typing import Any

from cgscore.errors import OptionError


def usable(name: str) -> Any:
    """The torch device of that name, or an `OptionError` that says why there is none."""
    try:
        import torch
    except ImportError as error:
        raise OptionError(
            f"device={name!r} needs torch, which is not installed. "
            'Run: pip install "cgscore[torch]"'
        ) from error
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise OptionError(f"device={name!r} cannot be used here: {reason}") from error
    return device
