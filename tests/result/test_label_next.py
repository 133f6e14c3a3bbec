"""Which unlabelled examples to label next, beside those of a result."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.result.label_next import label_next


@pytest.mark.filterwarnings("ignore::cgscore.CGScoreWarning")
def test_the_zero_of_numbers_decides_nothing() -> None:
    rng = np.random.default_rng(0)
    X, pool = rng.standard_normal((80, 12)), rng.standard_normal((60, 12))
    y = X[:, 0] + 0.5 * rng.standard_normal(80)
    near, far = (
        label_next(cgscore.score(X, y + zero, judge=False), X, pool, 10) for zero in (0, 1000)
    )
    assert near.order.tolist() == far.order.tolist()
    assert near.gains == pytest.approx(far.gains)
