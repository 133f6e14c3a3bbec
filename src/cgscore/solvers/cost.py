"""What each method costs: arithmetic, memory and traffic, before anything is allocated.

Flops are in units of a float64 matrix product: float32 counts half. Memory is above the caller's
own array. On a cluster of W workers with one thread each, ``worker_bytes`` is what the largest of
them needs and ``moved`` is what goes through the network; exact runs on one machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from cgscore.errors import MemoryLimitError
from cgscore.solvers import iterative, partition, subsample
from cgscore.solvers.averages import averages_bytes
from cgscore.solvers.blocks import parts
from cgscore.solvers.exact import kernel_flops
from cgscore.solvers.plan import plan
from cgscore.solvers.spread import spread_bytes
from cgscore.solvers.subset import task_bytes, task_flops
from cgscore.solvers.system import EXPECTED


@dataclass(frozen=True)
class Cost:
    """Arithmetic and memory of a method for given sizes.

    ``bytes`` of memory are enough without a disk; with ``disk`` bytes of one, ``least`` are.
    ``overhead`` is the time spent outside of matrix products, as a multiple of the rest; measured
    by ``make bench`` and ``bench/cluster.py``.
    """

    flops: float
    bytes: int
    least: int
    disk: int = 0
    overhead: float = 0.1
    tasks: int = 1
    worker_bytes: int = 0
    moved: int = 0
    workers: int | None = None

    def seconds(self, rate: float) -> float:
        """Estimated time at `rate` floating-point operations per second of all workers together.

        Tasks are done in rounds, one for each of the `workers`; what is no such task uses all.
        """
        idle = 1.0
        if self.workers:
            idle = -(-self.tasks // self.workers) * self.workers / self.tasks
        return self.flops * (1 + self.overhead) * idle / rate


def exact_cost(n: int, p: int, limit: int | None = None) -> Cost:
    """Kernel, factor and inverse, and their memory; panels as an explicit limit makes them."""
    layout = plan(n, p, limit=limit)
    flops = layout.flops + kernel_flops(n, p)
    memory = layout.in_memory + 8 * n * p
    return Cost(flops, memory, layout.streamed + 8 * n * p, layout.disk, worker_bytes=memory)


def iterative_cost(n: int, p: int, k: int, workers: int = 1) -> Cost:
    """Kernel, conjugate gradients and blocks. H is kept or formed anew; spread on a cluster."""
    systems = k + iterative.EXAMPLES + 2 * iterative.FURTHER
    flops = kernel_flops(n, p) / 2 + EXPECTED * 2.0 * n**2 * systems + 2 * n * (n / parts(n)) ** 2
    kept = iterative.bytes_kept(n, p, k) + 8 * n * p
    each = spread_bytes(n, p, workers) // workers
    moved = 8 * n * p * workers + EXPECTED * 4 * systems * n * (workers + 1)
    formed = iterative.bytes_formed(n, p, k) + 8 * n * p
    return Cost(flops, kept, formed, worker_bytes=each, moved=moved)


def subsample_cost(
    n: int, p: int, k: int, workers: int = 1, ratio: float = 4, runs: int | None = None
) -> Cost:
    """The paper's estimator, for classes of one size."""
    own = max(1, n // k)
    size = subsample.sample_size(own, n, ratio)
    m, columns, count = own + size, 1, k * (runs or subsample.recommended_runs(own, n, ratio))
    if m == n:  # everybody: one task for all classes
        columns, count = k, 1
    each = task_bytes(m, p, columns)
    results = count * 8 * m * (1 + columns)
    return _tasks_cost(n, p, k, workers, count * task_flops(m, p), each, results, count)


def partition_cost(
    n: int, p: int, k: int, workers: int = 1, runs: int | None = None, limit: int | None = None
) -> Cost:
    """Random partitions."""
    try:
        count = partition.block_count(n, p, k, limit)
    except MemoryLimitError:  # then its cost says that it does not fit
        count = partition.block_count(n, p, k)
    every = 1 if count == 1 else runs or partition.RUNS
    each = task_bytes(partition.largest(n, count, k), p, k)
    flops = every * count * task_flops(-(-n // count), p)
    results = 8 * n * (k + 1) * every
    return _tasks_cost(n, p, k, workers, flops, each, results, every * count)


def _tasks_cost(
    n: int,
    p: int,
    k: int,
    workers: int,
    flops: float,
    each: int,
    results: int,
    tasks: int,
) -> Cost:
    rows, averages = 8 * n * p, averages_bytes(n, k)
    return Cost(
        flops,
        rows + averages + min(workers, tasks) * each,
        rows + averages + each,
        tasks=tasks,
        worker_bytes=rows + each,
        moved=rows * workers + results,
        workers=workers,
    )
