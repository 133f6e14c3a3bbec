"""The noise matrix from the labels of anchors."""

from __future__ import annotations

import numpy as np

from cgscore.issues.noise_matrix import noise_matrix


def test_rows_are_distributions_and_many_anchors_decide() -> None:
    true = np.array([[0.9, 0.08, 0.02], [0.0, 0.95, 0.05], [0.1, 0.1, 0.8]])
    T = noise_matrix(10_000 * true)
    np.testing.assert_allclose(T.sum(axis=1), 1)
    np.testing.assert_allclose(T, true, atol=0.005)


def test_few_anchors_take_the_rate_of_the_others() -> None:
    counts = np.diag([900.0, 900.0, 900.0, 2.0])
    for c in range(3):
        counts[c, (c + 1) % 3] = 100.0
    T = noise_matrix(counts)
    assert 0.05 < 1 - T[3, 3] < 0.15  # both of its anchors are right, which says little
    np.testing.assert_allclose(T[3, :3], (1 - T[3, 3]) / 3)  # nothing says where its noise goes
    assert (T > 0).all()
