"""Pieces of a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.solvers import tiles


@pytest.mark.parametrize(
    ("start", "stop", "longest"), [(0, 10, 3), (4, 5, 9), (7, 7, 2), (0, 8, 4)]
)
def test_cuts_are_nearly_equal_and_leave_nothing_out(start: int, stop: int, longest: int) -> None:
    ranges = tiles.cuts(start, stop, longest)
    assert [i for cut in ranges for i in range(cut.start, cut.stop)] == list(range(start, stop))
    lengths = [cut.stop - cut.start for cut in ranges]
    assert max(lengths, default=0) <= longest
    assert max(lengths, default=0) - min(lengths, default=0) <= 1


def test_pairs_cover_the_lower_half_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "PIECE", 7)
    covered = np.zeros((40, 40), int)
    for rows, columns in tiles.lower_pairs(40):
        covered[rows, columns] += 1
        assert rows.start >= columns.stop or rows == columns
    assert (covered[np.tril_indices(40)] == 1).all()
    assert covered.max() == 1
