"""Files that are there whole or not at all, and the folder for what can be made again."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cgscore.errors import ResultError


def replace_file(path: Path, write: Callable[[Any], object]) -> None:
    """Write a file beside its final name, then rename it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with beside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise ResultError(
            f"{path} cannot be written: {error.strerror or error}. An older file is unchanged."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def cache_folder() -> Path | None:
    """Where features are kept: ``CGSCORE_CACHE``, or the user's cache; None if it is ``off``."""
    named = os.environ.get("CGSCORE_CACHE")
    if named == "off":
        return None
    if named:
        return Path(named)
    common = os.environ.get("XDG_CACHE_HOME")
    return (Path(common) if common else Path.home() / ".cache") / "cgscore"
