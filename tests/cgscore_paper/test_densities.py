"""Densities of scores."""

from __future__ import annotations

import numpy as np

from cgscore_paper import densities


def test_densities_count_what_is_clipped() -> None:
    scores = np.random.default_rng(0).normal(size=5_000)
    among = densities.edges(scores)
    found = densities.density(scores, among)
    assert found.shape == (densities.BINS,)
    np.testing.assert_allclose(found @ np.diff(among), 0.99, atol=0.001)
