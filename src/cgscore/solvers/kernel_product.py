"""Products with the kernel matrix, which is formed piece by piece and not stored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cgscore.execution.blas import one_blas_thread
from cgscore.execution.machine import cores
from cgscore.kernel import UnitRows, gram_block
from cgscore.solvers.tiles import lower_pairs
from cgscore.typing import Array


def kernel_product(rows: UnitRows, ridge: float, V: Array) -> Array:
    """``(H + ridge I) V`` in float64: n^2 p flops for half of H, 2 n^2 m for the product."""
    n = len(rows)
    out = ridge * V

    def multiply(pair: tuple[slice, slice]) -> tuple[slice, slice, Array, Array | None]:
        left, right = pair
        block = gram_block(rows[left], rows[right])
        if left == right:
            np.fill_diagonal(block, rows.kernel.diagonal)
            return left, right, block @ V[right], None
        return left, right, block @ V[right], block.T @ V[left]

    with one_blas_thread(), ThreadPoolExecutor(cores()) as pool:
        for left, right, above, below in pool.map(multiply, lower_pairs(n)):
            out[left] += above
            if below is not None:
                out[right] += below
    return out
