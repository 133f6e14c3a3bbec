r"""The definitions themselves: delete an example, invert again.

Slow on purpose (n inversions, n^4 flops) and free of every identity the package uses, this is
what `cgscore.solvers.cholesky` and `cgscore.valuation` are compared with in the tests. All
functions take H as a whole, with a ridge already on its diagonal if one is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgscore.typing import Array


def complexity(H: Array, y: Array) -> float:
    """``y^T H^-1 y``."""
    return float(y @ np.linalg.inv(H) @ y)


def gap(H: Array, y: Array, members: Sequence[int]) -> float:
    """Decrease of the complexity when the members are removed."""
    rest = np.setdiff1d(np.arange(len(y)), members)
    return complexity(H, y) - complexity(H[np.ix_(rest, rest)], y[rest])


def cg(H: Array, y: Array) -> Array:
    """The complexity gap of every single example: the definition in the paper's section 3.2."""
    return np.array([gap(H, y, [i]) for i in range(len(y))])


def terms(H: Array, y: Array) -> tuple[Array, Array, Array]:
    """The three terms of the paper's formula, from the columns of ``H^-1`` one by one."""
    inverse = np.linalg.inv(H)
    result = np.empty((3, len(y)))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        product = y[rest] @ inverse[rest, i]
        result[:, i] = (
            product**2 / inverse[i, i],
            2 * y[i] * product,
            y[i] ** 2 * inverse[i, i],
        )
    return result[0], result[1], result[2]


def leave_one_out(H: Array, y: Array) -> Array:
    """Kernel regression fitted without example i and evaluated at it, for every i."""
    result = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        result[i] = H[i, rest] @ np.linalg.inv(H[np.ix_(rest, rest)]) @ y[rest]
    return result


def cg_prime(H: Array, y: Array) -> Array:
    """The gap of ``y^T H y`` when example i is removed."""
    rests = (np.arange(len(y)) != i for i in range(len(y)))
    return np.array([y @ H @ y - y[rest] @ H[np.ix_(rest, rest)] @ y[rest] for rest in rests])
