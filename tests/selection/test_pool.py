"""The examples among which a result chooses."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import OptionError
from cgscore.selection.pool import Pool


def test_the_share_is_of_all_examples_as_far_as_enough_are_allowed() -> None:
    values, codes = np.arange(10.0), np.arange(10) % 2
    allowed = np.arange(10) % 5 != 0
    pool = Pool.of(values, codes, 0.5, allowed)
    assert pool.positions.tolist() == np.flatnonzero(allowed).tolist()
    assert pool.values.tolist() == values[allowed].tolist()
    assert pool.groups.tolist() == codes[allowed].tolist()
    assert pool.count == 5
    assert Pool.of(values, codes, 0.9, allowed).count == 8
    assert Pool.of(values, None, 0.01, None).count == 1
    kept = pool.positions[Pool.of(values, None, 0.5, allowed).select("low-first")]
    assert kept.tolist() == [4, 6, 7, 8, 9]


def test_nothing_is_left_to_choose_from() -> None:
    with pytest.raises(OptionError, match="Every label is suspected"):
        Pool.of(np.arange(3.0), None, 0.5, np.zeros(3, bool))
