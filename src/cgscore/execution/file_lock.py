"""A file that is locked until it is closed, or until its process ends.

==========  ============================================================================
POSIX       ``flock``
Windows     ``msvcrt.locking`` of the first byte
elsewhere   no lock: the file is opened and nothing else
==========  ============================================================================

Both kinds of locks belong to the open file, so a second lock of the same file is refused in the
same process too.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType


class FileLock:
    """A locked file.

    Parameters
    ----------
    path : Path
        The file; it is created if it does not exist, and never written to. A link is not followed
        where the system can say so.

    Raises
    ------
    BlockingIOError
        Another process, or another object of this one, has locked it.
    OSError
        It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        self._descriptor: int | None = os.open(path, flags, 0o666)
        lock, self._unlock = _functions()
        try:
            lock(self._descriptor)
        except BlockingIOError:
            self.close()
            raise
        except OSError:  # a disk without locks: nothing can be said
            pass

    def close(self) -> None:
        """Unlock and close the file; does nothing the second time."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                self._unlock(descriptor)
            os.close(descriptor)


def _functions() -> tuple[Callable[[int], object], Callable[[int], object]]:
    """How this system locks and unlocks a descriptor."""
    fcntl = _module("fcntl")
    if fcntl is not None:
        # closing unlocks; an explicit unlock would also end the lock of a forked child
        return lambda number: fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB), _nothing
    msvcrt = _module("msvcrt")
    if msvcrt is None:
        return _nothing, _nothing

    def lock(number: int) -> None:
        os.lseek(number, 0, os.SEEK_SET)
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                raise BlockingIOError(error.errno, error.strerror) from error
            raise

    def unlock(number: int) -> None:
        os.lseek(number, 0, os.SEEK_SET)
        msvcrt.locking(number, msvcrt.LK_UNLCK, 1)

    return lock, unlock


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def _nothing(_: int) -> None:
    pass
