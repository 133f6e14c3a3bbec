"""Atomic writes of files and folders, files that leave nothing behind, and the cache's folder."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from cgscore.errors import OptionError, ResultError, StorageError
from cgscore.execution.file_names import WINDOWS

MACOS = sys.platform == "darwin"
RENAME_SECONDS, RENAME_PAUSE = 2.0, 0.02  # how long, and how often, Windows is asked to rename


def scratch_file(folder: Path | None = None, *, buffering: int = -1) -> IO[bytes]:
    """A file that is gone once it is closed and no longer mapped, also if the process is killed.

    It has no name, or on Windows one that the system removes with the last handle or mapping. By
    default it is in the temporary folder.
    """
    return tempfile.TemporaryFile(prefix="cgscore-", dir=folder, buffering=buffering)


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
        sync_file(file)
    rename_over(beside, path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder name beside `path`; renamed to `path` on success, removed otherwise."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        rename_over(beside, path)
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


def rename_over(source: Path, target: Path) -> None:
    """Rename a file or folder; an older file of that name is replaced.

    On Windows that fails while another program, such as a virus scanner, has one of them open. It
    is then tried again for a while.
    """
    deadline = time.monotonic() + (RENAME_SECONDS if WINDOWS else 0.0)
    while True:
        try:
            return os.replace(source, target)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(RENAME_PAUSE)


def sync_file(file: IO[bytes]) -> None:
    """Write a file to the disk itself.

    On macOS `os.fsync` leaves the content in the memory of the drive, where a power cut finds it.
    """
    fcntl = import_module("fcntl") if MACOS else None
    try:
        if fcntl is None:
            os.fsync(file.fileno())
        else:
            fcntl.fcntl(file.fileno(), fcntl.F_FULLFSYNC)
    except OSError:
        if fcntl is None:
            raise
        os.fsync(file.fileno())  # a network disk


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    if not WINDOWS:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network disks cannot
                raise
        finally:
            os.close(handle)
