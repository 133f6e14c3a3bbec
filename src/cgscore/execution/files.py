"""Atomic writes of files and folders, and the folder of the cache."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cgscore.errors import OptionError, ResultError, StorageError


def replace_file(path: Path, write: Callable[[Any], object]) -> None:
    """Write a file beside its final name, then rename it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        write_and_rename(beside, path, write)
    except OSError as error:
        raise ResultError(
            f"{path} cannot be written: {error.strerror or error}. An older file is unchanged."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def write_and_rename(beside: Path, path: Path, write: Callable[[Any], object]) -> None:
    """Write the file `beside` to the disk, then give it its name."""
    with beside.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder name beside `path`; renamed to `path` on success, removed otherwise."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        os.replace(beside, path)
    except OSError as error:
        raise OptionError(f"{path} cannot be created: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def cache_folder() -> Path | None:
    """The cache of features: ``CGSCORE_CACHE``, or the user's cache; None if it is ``off``."""
    from platformdirs import user_cache_path

    named = os.environ.get("CGSCORE_CACHE")
    if named == "off":
        return None
    return Path(named) if named else user_cache_path("cgscore", appauthor=False)


@contextmanager
def naming_failures(name: str) -> Iterator[None]:
    """Turn errors of the disk into a `StorageError` that names the file."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        advice = "Free some space and run again." if full else "Give another folder."
        raise StorageError(
            f"{name}: writing failed ({error.strerror or error}). {advice}"
        ) from error


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network disks cannot
                raise
        finally:
            os.close(handle)
