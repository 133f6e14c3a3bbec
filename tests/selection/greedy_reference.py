"""Greedy choice as the formula says: the whole residual kernel, n^2 a step."""

from __future__ import annotations

import numpy as np

from cgscore.typing import Array, Index


def reference(H: Array, Y: Array, ridge: float, count: int) -> tuple[Index, Array]:
    """The first `count` examples and the fall of the squared error that each brought."""
    V, E = H.copy(), Y.copy()
    order, gains = [], []
    is_open = np.ones(len(H), bool)
    for _ in range(count):
        s = np.diagonal(V) + ridge
        gain = np.full(len(H), -np.inf)
        use = is_open & (s > 1e-12)
        own = np.einsum("ij,ij->i", E, E)
        gain[use] = (2 * np.einsum("ij,ij->i", V @ E, E) / s - (V**2).sum(axis=0) * own / s**2)[use]
        j = int(np.argmax(gain))
        order.append(j)
        gains.append(gain[j])
        is_open[j] = False
        E -= np.outer(V[:, j], E[j]) / s[j]
        V -= np.outer(V[:, j], V[:, j]) / s[j]
    return np.array(order), np.array(gains)
