"""How many examples each kept one stands for, for weighted training.

Every example is represented by the kept example of its own class that is most similar to it, which
for unit vectors is the nearest. A kept one represents itself, and its copies.

Cost: ``2 p n_c r_c`` flops for each class of n_c examples of which r_c are kept.
"""

from __future__ import annotations

import numpy as np

from cgscore.execution.blas import all_blas_threads
from cgscore.kernel import UnitRows
from cgscore.typing import Array, Codes, Index

CHUNK = 1 << 24  # similarities held at once


def representation(
    rows: UnitRows, codes: Codes | None, kept: Index, pool: Index | None = None
) -> Array:
    """The number of examples that each kept one represents, in the order of `kept`.

    Parameters
    ----------
    rows : UnitRows
        All examples.
    codes : (n,) array or None
        Their classes; None if each may represent any other.
    kept : (r,) array
        Positions of the kept examples.
    pool : array, optional
        Positions of the examples that are represented; all by default.

    Returns
    -------
    (r,) array
        Whole numbers. Their sum is the size of the pool, without the classes of which nothing is
        kept.
    """
    pool = np.arange(len(rows)) if pool is None else pool
    counts = np.zeros(len(kept))
    if codes is None:
        codes = np.zeros(len(rows), np.intp)
    with all_blas_threads():
        for label in np.unique(codes[kept]):
            mine = np.flatnonzero(codes[kept] == label)
            near = _nearest(rows, pool[codes[pool] == label], kept[mine])
            counts[mine] += np.bincount(near, minlength=len(mine))
    return counts


def _nearest(rows: UnitRows, examples: Index, kept: Index) -> Index:
    """For each example the number of the nearest kept one; a kept one is its own."""
    near = np.empty(len(examples), np.intp)
    step = max(1, CHUNK // max(1, len(kept)))
    chosen = rows[kept]
    for start in range(0, len(examples), step):
        part = examples[start : start + step]
        # |a - b|^2 = |a|^2 + |b|^2 - 2 a.b, of which |a|^2 changes no order
        near[start : start + len(part)] = np.argmax(
            rows.centred[part] @ chosen.centred.T - chosen.squares / 2, axis=1
        )
    place = np.full(len(rows), -1)
    place[kept] = np.arange(len(kept))
    own = place[examples]
    near[own >= 0] = own[own >= 0]  # a copy that comes first would be as near
    return near
