"""What a method costs: arithmetic, memory and traffic, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """n examples of p numbers in k classes (1 for regression)."""

    n: int
    p: int
    k: int


@dataclass(frozen=True)
class Cost:
    """Arithmetic and memory of a method for given sizes.

    Flops are in units of a float64 matrix product: float32 counts half. Memory is above the
    caller's own array. On a cluster of W workers with one thread each, ``worker_bytes`` is what the
    largest of them needs and ``moved`` is what goes through the network.

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
