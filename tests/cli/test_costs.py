"""What is said of a method that takes more memory than there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cgscore.cli.costs import _cost_in_words
from cgscore.methods.cost import Cost

COST = Cost(flops=1e9, bytes=8_000_000_000, min_bytes=1_000_000_000)


@pytest.mark.parametrize(
    ("cost", "way"),
    [
        (replace(COST, disk=5_000_000_000), "work from disk"),
        (replace(COST, tasks=64), "run fewer tasks at a time"),
        (COST, "compute the kernel matrix again for every product"),
    ],
)
def test_the_way_out_is_that_of_the_method(cost: Cost, way: str) -> None:
    assert f"; will {way}" in _cost_in_words(cost, 1e9, 2_000_000_000)
    assert "will" not in _cost_in_words(cost, 1e9, 9_000_000_000)
    assert "will" not in _cost_in_words(cost, 1e9, 500_000_000)
