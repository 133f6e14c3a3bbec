from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.execution.progress import Calls, Progress, Silent
from cgscore.kernel import unit_rows
from cgscore.solvers import tiles as pieces
from cgscore.solvers.cholesky import factor as exact
from cgscore.solvers.cholesky import plan as plans
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.cholesky.storage import InMemory


def rows(n: int, p: int = 12) -> Any:
    return np.random.default_rng(n).standard_normal((n, p))


def factorise(X: Any, ridge: float = 0.0, progress: Progress | None = None) -> exact.Cholesky:
    store = InMemory(plan(len(X), X.shape[1]))
    return exact.factorise(unit_rows(X), ridge, store, progress or Silent())


@pytest.fixture(params=[4096, 50, 17])
def panel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Panels so small that a small problem has many of them."""
    size = int(request.param)
    monkeypatch.setattr(plans, "MAX_TILE_ROWS", size)
    monkeypatch.setattr(pieces, "PIECE", max(5, size // 3))
    return size


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("n", [2, 3, 101, 160])
def test_agrees_with_a_dense_inverse(panel: int, n: int, ridge: float) -> None:
    X = rows(n)
    H = cgscore.gram(X) + ridge * np.eye(n)
    inverse = np.linalg.inv(H)
    factor = factorise(X, ridge)
    B = np.random.default_rng(1).standard_normal((n, 3))
    d = factor.inverse_diagonal(Silent())
    np.testing.assert_allclose(factor.solve(B), inverse @ B, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(d, np.diag(inverse), rtol=1e-10)
    Z = factor.half_solve(B)
    np.testing.assert_allclose(Z.T @ Z, B.T @ inverse @ B, rtol=1e-9, atol=1e-11)
    assert factor.norm == pytest.approx(np.abs(H).sum(axis=0).max())
    true = np.linalg.cond(H, 1)
    assert 0.2 * true <= factor.condition(d) <= 1.0001 * true


def test_many_panels_are_what_they_claim(panel: int) -> None:
    layout = plan(160)
    assert layout.edges[0] == 0
    assert layout.edges[-1] == 160
    assert layout.panels == (1 if panel == 4096 else -(-160 // panel))
    assert layout.widest <= max(panel, 160 if panel == 4096 else 0)
    covered = np.zeros((160, 160), dtype=int)
    for i in range(layout.panels):
        for piece in exact._pieces(layout, i):
            covered[piece.rows, piece.columns] += 1
    assert (covered[np.tril_indices(160)] == 1).all()


def test_a_nearly_identical_row_is_named(panel: int) -> None:
    X = rows(120, 40)
    X[90] = X[33]
    X[90, 0] += 1e-15 * np.linalg.norm(X[33])
    with pytest.raises(exact.Singular) as caught:
        factorise(X)
    assert caught.value.dependence.row == 90
    assert "row 90 is nearly identical to row 33" in caught.value.dependence.describe(
        np.arange(120)
    )


def test_a_combination_of_rows_is_named(panel: int) -> None:
    """More opposite pairs than dimensions are linearly dependent in H."""
    half = rows(4, 2)
    X = np.vstack([rows(50, 2), half, -half])
    with pytest.raises(exact.Singular) as caught:
        factorise(X)
    assert caught.value.dependence.row >= 56
    assert "combination of rows" in caught.value.dependence.describe(np.arange(58))


def test_the_weakest_row_is_found_where_the_factor_survives(panel: int) -> None:
    X = rows(120, 40)
    X[70] = X[20] + 1e-9 * X[3]
    factor = factorise(X)
    found = factor.weakest()
    assert found.row == 70
    assert np.argmax(np.abs(found.beta)) == 20


def test_progress_reaches_the_end_of_every_phase(panel: int) -> None:
    heard: list[tuple[str, float]] = []
    listener = Calls(lambda name, fraction: heard.append((name, fraction)))
    factor = factorise(rows(100), 0.0, listener)
    factor.inverse_diagonal(listener)
    last = dict(heard)
    assert list(last) == ["kernel", "factor", "inverse"]
    assert all(fraction == pytest.approx(1, abs=0.02) for fraction in last.values())
    for phase in last:
        fractions = [fraction for name, fraction in heard if name == phase]
        assert fractions == sorted(fractions)


def test_results_repeat_bit_by_bit() -> None:
    X = rows(300)
    first, second = (factorise(X).inverse_diagonal(Silent()) for _ in "ab")
    assert (first == second).all()
