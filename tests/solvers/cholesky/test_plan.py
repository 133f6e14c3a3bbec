"""Panels: how many, how wide, and what they take."""

from __future__ import annotations

import itertools

from cgscore.solvers.cholesky.plan import MAX_TILE_ROWS, MIN_TILE_ROWS, plan


def test_a_limit_is_kept_and_decides_the_panels() -> None:
    for n, p, limit, dtype in itertools.product(
        (3, 900, 20_000, 100_000), (10, 3072), (10**6, 10**8, 10**9, 10**11), ("float64", "float32")
    ):
        layout = plan(n, p, dtype, limit)
        needed = min(layout.in_memory, layout.streamed) + 8 * n * p
        assert needed <= limit or layout.widest <= MIN_TILE_ROWS
        assert layout.edges[0] == 0
        assert layout.edges[-1] == n
        assert layout.widest <= (2 * MAX_TILE_ROWS if layout.panels == 1 else MAX_TILE_ROWS)
    for n, limit in ((20_000, 10**8), (100_000, 5 * 10**8)):  # as wide as the limit admits
        layout = plan(n, 10, "float64", limit)
        room = limit - 8 * n * 10
        assert 0.9 * room < layout.streamed <= room
    assert plan(20_000, 784, limit=10**10) == plan(20_000, 784)


def test_memory_is_half_a_matrix_and_a_panel() -> None:
    layout = plan(60_000)
    assert layout.in_memory <= 8 * (60_000**2 / 2 + 1.5 * 60_000 * MAX_TILE_ROWS)
