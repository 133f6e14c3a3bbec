"""Which method suits a problem on this machine, and what each would cost."""

from __future__ import annotations

from typing import Any

from cgscore.errors import MemoryLimitError
from cgscore.execution.machine import available_memory, parse_bytes, product_rate, show_bytes
from cgscore.solvers.cost import Cost, exact_cost, iterative_cost

SMALL = 4000  # up to here exact takes a second or two, and nothing needs to be measured
PATIENCE = 60.0  # seconds for which nobody minds an exact answer


def costs(n: int, p: int, k: int, limit: int | None = None) -> dict[str, Cost]:
    """Arithmetic and memory of every method, under an explicit memory limit if there is one."""
    return {"exact": exact_cost(n, p, limit), "iterative": iterative_cost(n, p, k)}


def choose(
    n: int,
    p: int,
    k: int,
    memory_limit: int | float | str | None,
    dtype: str = "float64",
    device: str = "cpu",
) -> dict[str, Any]:
    """The method that ``auto`` takes, why, and what each method would cost here.

    Exact where it is expected within `PATIENCE`, or where an option asks for it; otherwise the
    faster of those that fit in memory, exact also from disk.
    """
    if device != "cpu":
        return {"method": "iterative", "why": "it is the one that uses a device"}
    if n <= SMALL or dtype != "float64":
        return {"method": "exact", "why": "small" if n <= SMALL else "dtype is its option"}
    limit = None if memory_limit is None else parse_bytes(memory_limit)
    room = available_memory() if limit is None else limit
    rate = product_rate()
    found = costs(n, p, k, limit)
    seconds = {name: cost.seconds(rate) for name, cost in found.items()}
    report: dict[str, Any] = {
        "seconds": seconds,
        "bytes": {name: cost.bytes for name, cost in found.items()},
    }
    if seconds["exact"] <= PATIENCE and found["exact"].least <= room:
        return {"method": "exact", "why": "takes a minute at most", **report}
    fitting = [name for name, cost in found.items() if cost.bytes <= room]
    if fitting:
        best = min(fitting, key=lambda name: seconds[name])
        return {"method": best, "why": "the fastest that fits in memory", **report}
    if found["exact"].least <= room:
        return {"method": "exact", "why": "fits on disk only", **report}
    needed = min(cost.least for cost in found.values())
    raise MemoryLimitError(
        f"Scoring {n:,} examples needs {show_bytes(needed)} of memory with any method; "
        f"{show_bytes(room)} is there. Score a sample of the examples, or use a machine with more."
    )
