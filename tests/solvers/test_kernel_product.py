"""Products with a kernel that is not kept."""

from __future__ import annotations

import numpy as np

import cgscore
from cgscore.kernel import unit_rows
from cgscore.solvers.kernel_product import kernel_product


def test_product_with_the_kernel() -> None:
    X = np.random.default_rng(1).standard_normal((1500, 9))
    V = np.random.default_rng(2).standard_normal((1500, 3))
    found = kernel_product(unit_rows(X), 0.3, V)
    np.testing.assert_allclose(found, cgscore.gram(X) @ V + 0.3 * V, atol=1e-11)
