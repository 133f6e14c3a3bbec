"""What this part of the package needs beyond the rest of it."""

from __future__ import annotations

from importlib.util import find_spec

from cgscore.errors import OptionError


def require_torch(what: str) -> None:
    """Refuse `what` where torch is not installed."""
    if find_spec("torch") is None:
        raise OptionError(
            f'{what} needs torch, which is not installed. Run: pip install "cgscore[torch]"'
        )
