"""How many examples of each class stay."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cgscore.selection.quotas import class_quotas, quotas


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(sum), st.floats(0, 1), st.data()
)
def test_quotas_add_up_and_shares_are_alike(
    sizes: list[int], share: float, data: st.DataObject
) -> None:
    n = np.array(sizes, np.intp)
    count = round(share * n.sum())
    found = quotas(n, count)
    assert found.sum() == count
    assert (np.abs(found - n * count / n.sum()) < 1).all()
    classes = class_quotas(n, count)
    assert classes.sum() == count
    assert (classes <= n).all()
    if count >= (n > 0).sum():
        assert (classes[n > 0] > 0).all()
    weights = np.array(data.draw(st.lists(st.floats(0.1, 9), min_size=len(n), max_size=len(n))))
    weighted = quotas(n, count, weights)
    assert weighted.sum() == count
    assert ((weighted >= 0) & (weighted <= n)).all()


def test_no_class_vanishes() -> None:
    assert quotas(np.array([1, 50]), 15).tolist() == [0, 15]
    assert class_quotas(np.array([1, 50]), 15).tolist() == [1, 14]
    assert class_quotas(np.array([3, 0, 60, 3]), 3).tolist() == [1, 0, 1, 1]
    assert class_quotas(np.array([3, 60, 3]), 2).tolist() == [0, 2, 0]  # not enough for all
