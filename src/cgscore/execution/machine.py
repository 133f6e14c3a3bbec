"""Resources of this machine: memory within its limits, cores, and the speed of matrix products."""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import psutil

from cgscore.errors import OptionError

PROCESS_STATUS = Path("/proc/self/status")
LOWEST_PRIORITY = 19  # of POSIX

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_bytes(amount: object, name: str = "memory_limit") -> int:
    """Bytes from a number or a text such as ``"4GB"`` or ``"512 MiB"``."""
    if isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", amount.lower())
        if not match:
            raise OptionError(f"{name}={amount!r} is not a size. Write it like 4GB or 512MiB.")
        number, unit, binary = match.groups()
        amount = float(number) * (_BINARY[unit] if binary and unit else _UNITS[unit])
    if not isinstance(amount, int | float) or not 0 < amount < float("inf"):
        raise OptionError(f"{name}={amount!r} is not a size. Expected a positive number of bytes.")
    return int(amount)


def show_bytes(amount: float) -> str:
    """A size in readable units: ``1.4 GB``."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount / 1e3:.3g} kB"


def show_seconds(seconds: float) -> str:
    """A duration in readable units: ``0.6 s``, ``12 min``, ``3.2 h``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def available_memory() -> int:
    """Bytes that can be allocated now, within the limits of the control groups."""
    free: int = psutil.virtual_memory().available
    for folder in _control_groups():
        try:
            limit = int((folder / "memory.max").read_text())  # "max" where there is no limit
            used = int((folder / "memory.current").read_text())
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):
            continue
        free = min(free, limit - used + int(stat.get("inactive_file", 0)))  # cache can be dropped
    return max(free, 0)


@dataclass(frozen=True)
class Room:
    """Memory that may be used, and its kind: free, the limit, or left of the limit."""

    bytes: int
    kind: str = "free"

    def __str__(self) -> str:
        return f"{show_bytes(max(self.bytes, 0))} is {self.kind}"


def memory_room(limit: int | None, taken: int = 0, share: float = 1.0) -> Room:
    """Memory that may be used.

    Parameters
    ----------
    limit : int or None
        Bytes that the caller allows, or None for whatever is free.
    taken : int
        Bytes of the limit that are in use already.
    share : float
        Fraction of the free memory that may be used.
    """
    free = int(share * available_memory())
    if limit is None or limit - taken >= free:
        return Room(free)
    return Room(limit - taken, "left of the limit" if taken else "the limit")


def _control_groups() -> list[Path]:
    """Folders of this process's control group and its parents (cgroup version 2)."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    inner = next((line[3:] for line in lines if line.startswith("0::")), "/")
    path = Path(inner.lstrip("/"))
    return [root / path, *(root / parent for parent in path.parents)]


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes.

    Linux says it in ``/proc`` (``ru_maxrss`` would include the peak of the process that forked
    us), Windows in the process's own numbers, macOS in ``ru_maxrss``. Elsewhere it is the size
    now.
    """
    for reading in (_peak_of_proc, _peak_of_windows, _peak_of_usage):
        peak = reading()
        if peak is not None:
            return peak
    return int(psutil.Process().memory_info().rss)


def _peak_of_proc() -> int | None:
    try:
        status = PROCESS_STATUS.read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"VmHWM:\s*(\d+)", status)
    return 1024 * int(found.group(1)) if found else None


def _peak_of_windows() -> int | None:
    peak: int | None = getattr(psutil.Process().memory_info(), "peak_wset", None)
    return peak


def _peak_of_usage() -> int | None:
    try:
        resource = import_module("resource")
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def cores() -> int:
    """Processor cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # on Linux
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def lower_priority() -> None:
    """Let other processes run first."""
    idle = getattr(psutil, "IDLE_PRIORITY_CLASS", LOWEST_PRIORITY)  # a name that Windows has
    psutil.Process().nice(idle)


def product_rate(size: int = 1200) -> float:
    """Floating-point operations per second of a float64 matrix product, from a short trial."""
    from scipy.linalg import blas  # the library that the solvers use

    A = np.asfortranarray(np.random.default_rng(0).standard_normal((size, size)))
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        blas.dgemm(1.0, A, A, trans_b=1)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best
