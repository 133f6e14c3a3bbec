"""Which method suits a problem on this machine or cluster, and what each would cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cgscore.errors import CGScoreError, ConvergenceError, MemoryLimitError
from cgscore.execution.checkpoint import method_in
from cgscore.execution.executor import ClusterExecutor
from cgscore.execution.machine import cores, memory_room, product_rate, show_bytes
from cgscore.methods import METHODS
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.options import Options
from cgscore.solvers.iterative.distributed import spread_bytes

MAX_SMALL_N = 4000  # up to here exact takes a second or two, and nothing needs to be measured
PATIENCE = 60.0  # seconds for which nobody minds an exact answer
MAX_SECONDS = 12 * 3600.0  # after which an estimate today is better than an answer some day


@dataclass(frozen=True)
class Choice:
    """The method that ``auto`` takes, why, and what each method would cost here."""

    method: str
    why: str
    costs: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """What ``meta["choice"]`` says."""
        return {"method": self.method, "why": self.why, **self.costs}


def costs(sizes: Sizes, options: Options, workers: int | None = None) -> dict[str, Cost]:
    """Arithmetic and memory of every method, under an explicit memory limit if there is one."""
    return {
        name: method.cost(sizes, options, workers or cores()) for name, method in METHODS.items()
    }


def choose(sizes: Sizes, options: Options, cluster: ClusterExecutor | None) -> Choice:
    """The method that ``auto`` takes.

    What a checkpoint holds goes on. Otherwise exact where it is expected within `PATIENCE`, or
    where an option asks for it; otherwise the faster of exact and iterative that fits in memory;
    otherwise, with a ridge, lowrank; otherwise exact from disk, if that ends within `MAX_SECONDS`;
    otherwise partition.
    """
    begun = None if options.checkpoint is None else method_in(options.checkpoint)
    if begun is not None and begun in METHODS:
        return Choice(begun, "the checkpoint was made with it")
    if options.landmarks is not None:
        return Choice("lowrank", "only this method uses landmarks")
    if cluster is not None:
        return _choose_on(cluster, sizes, options)
    if options.device != "cpu":
        return Choice("iterative", "only this method uses a device")
    if sizes.n <= MAX_SMALL_N or options.dtype != "float64":
        return Choice(
            "exact", "few examples" if sizes.n <= MAX_SMALL_N else "only this method uses dtype"
        )
    room = memory_room(options.memory_limit).bytes
    rate = product_rate()
    estimates = costs(sizes, options)
    seconds = {name: cost.seconds(rate) for name, cost in estimates.items()}
    memory = {name: cost.bytes for name, cost in estimates.items()}
    report: dict[str, Any] = {"seconds": seconds, "bytes": memory}
    from_disk = estimates["exact"].min_bytes <= room
    if seconds["exact"] <= PATIENCE and from_disk:
        return Choice("exact", "it takes a minute at most", report)
    fitting = [name for name in ("exact", "iterative") if memory[name] <= room]
    if fitting:
        fastest = min(fitting, key=lambda name: seconds[name])
        return Choice(fastest, "the fastest that fits in memory", report)
    if options.ridge != 0 and estimates["lowrank"].min_bytes <= room:
        return Choice("lowrank", "the kernel matrix does not fit in memory", report)
    if from_disk and seconds["exact"] <= MAX_SECONDS:
        return Choice("exact", "the kernel matrix fits on disk, but not in memory", report)
    if estimates["partition"].min_bytes <= room:
        return Choice(
            "partition", "the only method that fits in memory and ends in reasonable time", report
        )
    needed = min(cost.min_bytes for cost in estimates.values())
    raise MemoryLimitError(
        f"Scoring {sizes.n:,} examples needs {show_bytes(needed)} of memory with any method; "
        f"{show_bytes(room)} is available. Score a sample of the examples, or use a machine with "
        "more."
    )


def instead_of_iterative(error: CGScoreError, sizes: Sizes, options: Options) -> Choice:
    """What ``auto`` does when the iterative method refuses the data: exact, if it fits and ends.

    Raises
    ------
    ConvergenceError
        It does not; says why the iterative method refused, too.
    """
    room = memory_room(options.memory_limit).bytes
    cost = METHODS["exact"].cost(sizes, options, cores())
    seconds = 0.0 if sizes.n <= MAX_SMALL_N else cost.seconds(product_rate())
    if cost.min_bytes <= room and seconds <= MAX_SECONDS:
        return Choice("exact", f"the iterative method refused: {error}")
    reason = (
        f"needs {show_bytes(cost.min_bytes)} of memory, and {show_bytes(max(room, 0))} is available"
        if cost.min_bytes > room
        else f"would take about {seconds / 3600:.0f} hours"
    )
    raise ConvergenceError(
        f"{error} method='auto' does not fall back to exact, which {reason}."
    ) from error


def _choose_on(cluster: ClusterExecutor, sizes: Sizes, options: Options) -> Choice:
    """On a cluster: iterative if its workers can hold H."""
    if sizes.n <= MAX_SMALL_N:
        return Choice("exact", "few examples: the cluster is not needed")
    if options.dtype != "float64":
        return Choice("exact", "only this method uses dtype; the cluster is not used")
    if spread_bytes(sizes.n, sizes.p, cluster.workers()) <= cluster.memory():
        return Choice("iterative", "the workers can hold the kernel matrix")
    if options.ridge != 0:
        return Choice("lowrank", "the kernel matrix does not fit on the workers")
    return Choice("partition", "the kernel matrix does not fit on the workers")
