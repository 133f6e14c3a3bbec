"""How many examples each kept one stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.kernel import unit_rows
from cgscore.selection import weights
from cgscore.selection.weights import representation


@pytest.mark.parametrize("chunk", [1 << 24, 7])
def test_each_example_counts_for_the_nearest_kept_one_of_its_class(
    cloud: tuple[Any, Any], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "CHUNK", chunk)
    X, codes = cloud
    kept = np.array([3, 50, 7, 25, 44, 22])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for classes in (codes, None):
        expected = np.zeros(len(kept))
        for i in range(len(X)):
            mine = [j for j in kept if classes is None or codes[j] == codes[i]]
            expected[list(kept).index(max(mine, key=lambda j: unit[i] @ unit[j]))] += 1
        assert representation(unit_rows(X), classes, kept).tolist() == expected.tolist()
        assert expected.sum() == 60
    some = representation(unit_rows(X), codes, kept[:3], np.arange(0, 60, 2))
    assert some.sum() == 20  # of the class without a kept one none is represented


def test_copies_represent_themselves(cloud: tuple[Any, Any]) -> None:
    X = np.repeat(cloud[0][:4], 2, axis=0)
    assert representation(unit_rows(X), None, np.arange(8)).tolist() == [1] * 8
