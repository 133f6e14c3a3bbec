"""What each method costs: arithmetic and memory, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from cgscore.solvers import iterative
from cgscore.solvers.blocks import parts
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


def exact_cost(n: int, p: int, limit: int | None = None) -> Cost:
    """Kernel, factor and inverse, and their memory; panels as an explicit limit makes them."""
    layout = plan(n, p, limit=limit)
    flops = layout.flops + kernel_flops(n, p)
    return Cost(flops, layout.in_memory + 8 * n * p, layout.streamed + 8 * n * p, layout.disk, 0.1)


def iterative_cost(n: int, p: int, k: int) -> Cost:
    """Kernel, conjugate gradients and blocks; float32 counts half. H is kept or formed anew."""
    systems = k + iterative.EXAMPLES
    flops = (
        kernel_flops(n, p) / 2
        + iterative.EXPECTED * 2.0 * n**2 * systems
        + 2 * n * (n / parts(n)) ** 2
    )
    kept = iterative.bytes_kept(n, p, k) + 8 * n * p
    return Cost(flops, kept, iterative.bytes_formed(n, p, k) + 8 * n * p, 0, 0.1)
