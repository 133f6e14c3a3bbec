"""The cost of a method: arithmetic, memory and traffic, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes a second of the link of each worker of a cluster (10 Gbit/s), and seconds of a round.
NETWORK_RATE, ROUND_SECONDS = 1.25e9, 0.03


@dataclass(frozen=True)
class Sizes:
    """n examples of p numbers in k classes (1 for regression)."""

    n: int
    p: int
    k: int


@dataclass(frozen=True)
class Cost:
    """Arithmetic and memory of a method for given sizes.

    Flops are in units of a float64 matrix product: float32 counts half. Memory is in addition to
    the caller's array.

    Attributes
    ----------
    flops : float
        Arithmetic of all workers together.
    bytes : int
        Memory needed without a disk.
    min_bytes : int
        Memory needed with `disk` bytes of disk.
    disk : int
        Bytes on disk.
    overhead : float
        Time spent outside of matrix products, as a multiple of the time inside; measured by
        ``make bench`` and ``bench/cluster.py``.
    tasks : int
        Number of independent tasks.
    worker_bytes : int
        Memory of the largest of the workers of a cluster, with one thread each.
    traffic : int
        Bytes sent through the network of a cluster.
    rounds : int
        How often all workers of a cluster wait for each other.
    workers : int or None
        Number of workers among which the tasks are divided; None if they are not.
    """

    flops: float
    bytes: int
    min_bytes: int
    disk: int = 0
    overhead: float = 0.1
    tasks: int = 1
    worker_bytes: int = 0
    traffic: int = 0
    rounds: int = 0
    workers: int | None = None

    def seconds(self, rate: float, *, cluster: int | None = None) -> float:
        """Estimated time at `rate` floating-point operations per second of all workers together.

        Tasks run in rounds of one task per worker; a last, incomplete round leaves workers idle.
        On a cluster of so many workers, sending and waiting for each other take time, too.
        """
        idle = 1.0
        if self.workers:
            idle = -(-self.tasks // self.workers) * self.workers / self.tasks
        network = 0.0
        if cluster:
            network = self.traffic / (NETWORK_RATE * cluster) + self.rounds * ROUND_SECONDS
        return self.flops * (1 + self.overhead) * idle / rate + network
