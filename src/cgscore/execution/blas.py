"""How many threads BLAS has: one for each of many callers, or all of them for one.

The number belongs to the whole process, and it decides how a product is cut and rounded. So work
with one thread a caller and work with all threads take turns, from whichever threads of this
process they come: each of `one_blas_thread` and `all_blas_threads` admits any number of callers of
its own kind and waits for those of the other. A result then has the same bits whatever else is
scored in the same process at the same time.

A fork waits for both kinds: the child of a process in the middle of a product would wait for
threads that it does not have.
"""

from __future__ import annotations

import functools
import importlib
import os
import platform
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


class _Turns:
    """A lock for any number of callers of one kind at a time, first come, first served."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._depth: dict[int, int] = {}  # of each thread that is inside
        self._kind = ""
        self._queue: list[object] = []
        self._limit: Any = None

    @contextmanager
    def take(self, kind: str) -> Iterator[None]:
        """Hold the lock for this kind; a caller limited to one BLAS thread stays so inside."""
        self.enter(kind)
        try:
            yield
        finally:
            self.leave()

    def enter(self, kind: str) -> None:
        """Wait for the turn of this kind."""
        me = threading.get_ident()
        with self._change:
            if me in self._depth:
                if (self._kind, kind) == ("all", "one"):
                    raise RuntimeError("one_blas_thread was entered inside all_blas_threads")
                self._depth[me] += 1
                return
            ticket = object()
            self._queue.append(ticket)
            try:
                self._change.wait_for(
                    lambda: self._queue[0] is ticket and (not self._depth or self._kind == kind)
                )
            finally:
                self._queue.remove(ticket)
                self._change.notify_all()
            if kind == "one" and not self._depth:
                self._limit = _limited()
            self._depth[me], self._kind = 1, kind

    def leave(self) -> None:
        """End the turn; the last caller of its kind restores the number of threads."""
        me = threading.get_ident()
        with self._change:
            self._depth[me] -= 1
            if not self._depth[me]:
                del self._depth[me]
            if not self._depth and self._limit is not None:
                _take_over()
                self._limit.restore_original_limits()
                _take_over()
                self._limit = None
            self._change.notify_all()

    def after_fork(self) -> _Turns:
        """The same lock in the child of a fork, which has this thread only."""
        me, turns = threading.get_ident(), _Turns()
        turns._depth, turns._kind, turns._limit = {me: self._depth[me]}, self._kind, self._limit
        return turns


_turns = _Turns()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread while callers themselves run in parallel.

    Threads that the caller starts inside must not call this again: the limit holds for them too.
    """
    return _turns.take("one")


def all_blas_threads() -> AbstractContextManager[None]:
    """Leave BLAS all threads it has; inside of `one_blas_thread` that is one."""
    return _turns.take("all")


@functools.cache
def _controller() -> ThreadpoolController:
    """Handle on the thread pools of the BLAS libraries; finding them takes some milliseconds."""
    importlib.import_module("scipy.linalg.cython_blas")  # it sees only what is loaded
    return ThreadpoolController()


def _limited() -> Any:
    _take_over()
    return _controller().limit(limits=1, user_api="blas")


def _take_over() -> None:
    """Let this thread set limits.

    threadpoolctl silently ignores all threads but the first that set a limit. Here threads come and
    go in any order, and `_Turns` serialises them.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _in_child() -> None:
    global _turns
    _turns = _turns.after_fork()
    _turns.leave()


# The hook registered last runs first. Thread pools hold a lock during a fork, for which threads
# inside may be waiting; so this hook has to wait before that lock is taken.
importlib.import_module("concurrent.futures.thread")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _turns.enter("fork"),
        after_in_parent=lambda: _turns.leave(),
        after_in_child=_in_child,
    )


def _built_with() -> str:
    """The BLAS that scipy was built with; Accelerate has the version of macOS."""
    import scipy

    config: Any = scipy.show_config(mode="dicts")
    blas = config["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas.get('version', 'unknown')} {platform.mac_ver()[0]}".strip()


def libraries(threads: bool = True) -> list[str]:
    """The BLAS libraries of numpy and scipy: name, version, architecture and threads of each."""
    pools = [pool for pool in _controller().info() if pool["user_api"] == "blas"]
    if not pools:  # such as Apple's Accelerate, whose threads nobody controls
        return [_built_with()]
    bundled = [pool for pool in pools if re.search("numpy|scipy", pool["filepath"])]
    return sorted(
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}"
        + (f", {pool['num_threads']} threads" if threads else "")
        for pool in bundled or pools  # a shared system library is not in their folders
    )
