"""BLAS threads: one per caller while callers themselves run in parallel."""

from __future__ import annotations

import functools
import importlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_limit: Any = None


@functools.cache
def _controller() -> ThreadpoolController:
    """Handle on the thread pools of the BLAS libraries; finding them takes some milliseconds."""
    importlib.import_module("scipy.linalg.cython_blas")  # it sees only what is loaded
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; the last of several concurrent users restores what was before."""
    global _inside, _limit
    with _lock:
        if _inside == 0:
            _take_over()
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _take_over()
                _limit.restore_original_limits()
                _take_over()


def _take_over() -> None:
    """Let this thread set limits.

    threadpoolctl heeds only the thread that did so first, and says nothing to others. Ours come and
    go in any order; the lock above orders them.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def libraries(threads: bool = True) -> list[str]:
    """The BLAS libraries of numpy and scipy: name, version, processor type and threads of each."""
    found = [pool for pool in _controller().info() if pool["user_api"] == "blas"]
    ours = [pool for pool in found if re.search("numpy|scipy", pool["filepath"])]
    return sorted(
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}"
        + (f", {pool['num_threads']} threads" if threads else "")
        for pool in ours or found  # where they share one library, it is not in their folders
    )
