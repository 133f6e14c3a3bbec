"""What each method costs: arithmetic and memory, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

from cgscore.solvers import exact


@dataclass(frozen=True)
class Cost:
    """Arithmetic and memory of a method for given sizes.

    ``overhead`` is the time spent outside of matrix products, as a multiple of the rest; measured
    by ``make bench``.
    """

    flops: float
    bytes: int
    overhead: float

    def seconds(self, rate: float) -> float:
        """Estimated time at `rate` floating-point operations per second."""
        return self.flops * (1 + self.overhead) / rate


def exact_cost(n: int, p: int) -> Cost:
    """Factor, inverse and kernel (its arccos counted as 600 flops an entry), and their memory."""
    layout = exact.plan(n)
    return Cost(layout.flops + n**2 * (p + 600.0), layout.bytes + 8 * n * p, overhead=0.2)
