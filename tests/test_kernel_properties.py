"""Properties of the kernel matrix for inputs that nobody chose."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cgscore


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 12), st.integers(1, 6)),
        elements=st.floats(-1e150, 1e150).filter(lambda x: x == 0 or abs(x) > 1e-150),
    )
)
def test_bounded_symmetric_and_scale_free(X: Any) -> None:
    X[np.abs(X).max(axis=1) == 0, 0] = 1.0
    H = cgscore.gram(X)
    assert np.isfinite(H).all()
    assert (H <= 0.5).all()
    assert (H > -0.1).all()  # the least value of g (pi - theta) / (2 pi) is about -0.09
    scale = 2.0 ** np.arange(len(X))[:, None]
    np.testing.assert_allclose(cgscore.gram(X / 1e3 * scale), H, atol=1e-14)
