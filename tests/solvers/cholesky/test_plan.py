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


def test_strips_cover_every_column_once() -> None:
    for layout in (plan(7), plan(700, 9, limit=450_000), plan(2 * MAX_TILE_ROWS + 1)):
        columns = [c for start, stop in layout.strips() for c in range(start, stop)]
        assert columns == list(range(layout.n))
        assert max(stop - start for start, stop in layout.strips()) <= -(-layout.widest // 2)


def test_memory_is_half_a_matrix_and_a_panel() -> None:
    layout = plan(60_000)
    assert layout.in_memory < 0.53 * 8 * 60_000**2
