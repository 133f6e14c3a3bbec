"""Which method suits a problem on this machine, and what each would cost."""

from __future__ import annotations

from typing import Any

from cgscore.errors import CGScoreError, ConvergenceError, MemoryLimitError
from cgscore.execution.executor import ClusterExecutor
from cgscore.execution.machine import (
    available_memory,
    cores,
    parse_bytes,
    product_rate,
    show_bytes,
)
from cgscore.methods.cost import (
    Cost,
    exact_cost,
    iterative_cost,
    partition_cost,
    subsample_cost,
)
from cgscore.solvers.iterative.distributed import spread_bytes

SMALL = 4000  # up to here exact takes a second or two, and nothing needs to be measured
PATIENCE = 60.0  # seconds for which nobody minds an exact answer
LONGEST = 12 * 3600.0  # seconds after which an estimate today is better than an answer some day


def costs(
    n: int,
    p: int,
    k: int,
    limit: int | None = None,
    *,
    workers: int | None = None,
    ratio: float = 4,
    runs: int | None = None,
) -> dict[str, Cost]:
    """Arithmetic and memory of every method, under an explicit memory limit if there is one."""
    count = workers or cores()
    return {
        "exact": exact_cost(n, p, limit),
        "iterative": iterative_cost(n, p, k, count),
        "subsample": subsample_cost(n, p, k, count, ratio, runs),
        "partition": partition_cost(n, p, k, count, runs, limit),
    }


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
    faster of exact and iterative that fits in memory; otherwise exact from disk, if that ends
    within `LONGEST`; otherwise partition.
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
    from_disk = found["exact"].least <= room
    if seconds["exact"] <= PATIENCE and from_disk:
        return {"method": "exact", "why": "takes a minute at most", **report}
    fitting = [name for name in ("exact", "iterative") if found[name].bytes <= room]
    if fitting:
        best = min(fitting, key=lambda name: seconds[name])
        return {"method": best, "why": "the fastest that fits in memory", **report}
    if from_disk and seconds["exact"] <= LONGEST:
        return {"method": "exact", "why": "fits on disk only", **report}
    if found["partition"].least <= room:
        return {"method": "partition", "why": "the only one that fits and ends", **report}
    needed = min(cost.least for cost in found.values())
    raise MemoryLimitError(
        f"Scoring {n:,} examples needs {show_bytes(needed)} of memory with any method; "
        f"{show_bytes(room)} is there. Score a sample of the examples, or use a machine with more."
    )


def instead_of_iterative(
    error: CGScoreError, n: int, p: int, memory_limit: int | float | str | None
) -> dict[str, Any]:
    """What ``auto`` does when the iterative method refuses the data: exact, if it fits and ends.

    Raises
    ------
    ConvergenceError
        It does not; says why the iterative method refused, too.
    """
    limit = None if memory_limit is None else parse_bytes(memory_limit)
    room = available_memory() if limit is None else limit
    cost = exact_cost(n, p, limit)
    seconds = 0.0 if n <= SMALL else cost.seconds(product_rate())
    if cost.least <= room and seconds <= LONGEST:
        return {"method": "exact", "why": f"the iterative method refused: {error}"}
    reason = (
        f"needs {show_bytes(cost.least)} of memory, and {show_bytes(max(room, 0))} is there"
        if cost.least > room
        else f"would take about {seconds / 3600:.0f} hours"
    )
    raise ConvergenceError(
        f"{error} method='auto' does not fall back to exact, which {reason}."
    ) from error


def choose_on(cluster: ClusterExecutor, n: int, p: int, dtype: str = "float64") -> dict[str, Any]:
    """The method that ``auto`` takes on a cluster: iterative if its workers can hold H."""
    if n <= SMALL:
        return {"method": "exact", "why": "small: the cluster is not needed"}
    if dtype != "float64":
        return {"method": "exact", "why": "dtype is its option; the cluster is not used"}
    if spread_bytes(n, p, cluster.workers()) <= cluster.memory():
        return {"method": "iterative", "why": "the workers can hold the kernel matrix"}
    return {"method": "partition", "why": "the kernel matrix does not fit on the workers"}
