"""What each method costs: arithmetic and memory, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from cgscore.solvers.exact import kernel_flops
from cgscore.solvers.plan import plan


@dataclass(frozen=True)
class Cost:
    """Arithmetic and memory of a method for given sizes.

    ``bytes`` of memory are enough without a disk; with ``disk`` bytes of one, ``least`` are.
    ``overhead`` is the time spent outside of matrix products, as a multiple of the rest; measured
    by ``make bench``.
    """

    flops: float
    bytes: int
    least: int
    disk: int
    overhead: float

    def seconds(self, rate: float) -> float:
        """Estimated time at `rate` floating-point operations per second."""
        return self.flops * (1 + self.overhead) / rate


def exact_cost(n: int, p: int) -> Cost:
    """Kernel, factor and inverse, and their memory when all is in memory."""
    layout = plan(n, p)
    flops = layout.flops + kernel_flops(n, p)
    return Cost(flops, layout.in_memory + 8 * n * p, layout.streamed + 8 * n * p, layout.disk, 0.1)
