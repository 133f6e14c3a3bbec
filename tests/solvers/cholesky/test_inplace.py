"""Routines that work on blocks in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cgscore.solvers.cholesky.inplace import (
    cholesky,
    left_solve,
    right_solve,
    subtract_product,
    subtract_square,
)


def blocks() -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        whole = np.asfortranarray(rng.standard_normal((12, 40)).astype(dtype))
        yield whole, 1e-12 if dtype == np.float64 else 1e-4


def test_routines_work_on_blocks_in_place() -> None:
    for whole, tolerance in blocks():
        before = whole.astype(np.float64)
        A, B, C = whole[:5, :7], whole[5:9, 7:14], whole[3:8, 20:24]
        subtract_product(A, B, C)
        expected = before.copy()
        expected[3:8, 20:24] -= before[:5, :7] @ before[5:9, 7:14].T
        np.testing.assert_allclose(whole, expected, atol=tolerance)
        subtract_product(A[:, :4], whole[:4, 30:32], whole[7:12, 33:35], transposed=False)
        expected[7:12, 33:35] -= before[:5, :4] @ before[:4, 30:32]
        np.testing.assert_allclose(whole, expected, atol=tolerance)
        L = np.asfortranarray(np.tril(before[:6, :6]) + 4 * np.eye(6)).astype(whole.dtype)
        for transposed in (True, False):
            right = whole[2:5, 8:14].copy(order="F")
            right_solve(L, right, transposed=transposed)
            back = right @ (L.T if transposed else L)
            np.testing.assert_allclose(back, whole[2:5, 8:14], atol=10 * tolerance)
            left = whole[2:8, 8:11].copy(order="F")
            left_solve(L, left, transposed=transposed)
            back = (L.T if transposed else L) @ left
            np.testing.assert_allclose(back, whole[2:8, 8:11], atol=10 * tolerance)
        S = np.asfortranarray(np.eye(5) * 90).astype(whole.dtype)
        subtract_square(A, S)
        square = np.eye(5) * 90 - before[:5, :7] @ before[:5, :7].T
        np.testing.assert_allclose(np.tril(S), np.tril(square), atol=100 * tolerance)
        assert cholesky(S) == 0
        np.testing.assert_allclose(np.tril(S) @ np.tril(S).T, square, atol=100 * tolerance)
        S[3, 3] = -1
        assert cholesky(S) > 0


def test_blocks_that_do_not_fit_are_a_fault() -> None:
    whole = np.zeros((6, 6), order="F")
    with pytest.raises(RuntimeError, match="of a BLAS call do not match"):
        subtract_product(whole[:2, :3], whole[:2, :2], whole[:2, :2])
    with pytest.raises(RuntimeError, match="of a BLAS call do not match"):
        subtract_product(whole[::2, :3], whole[:3, :3], whole[:3, :3])
    with pytest.raises(RuntimeError, match="of a BLAS call do not match"):
        right_solve(whole[:3, :3].astype(np.float32), whole[:3, :3])
