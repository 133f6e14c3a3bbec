"""The automatic ridge."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.execution import blas
from cgscore.kernel import own_gram, unit_rows
from cgscore.solvers import ridge_search as ridges
from cgscore.valuation import class_targets
from tests.issues.examples import blobs

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_the_automatic_ridge_has_the_least_error(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([80, 80, 80], apart=1.0)
    monkeypatch.setattr(ridges, "CANDIDATES", 10.0 ** np.linspace(-3, 1, 9))
    found = ridges.least_error(cgscore.kernel.unit_rows(X), class_targets(y, 3))
    errors = []
    for ridge in ridges.CANDIDATES:
        s = cgscore.score(X, y, ridge=float(ridge))
        residuals = class_targets(y, 3) - s.loo
        errors.append(np.mean((residuals - residuals.mean(axis=1, keepdims=True)) ** 2))
    assert found.ridge == ridges.CANDIDATES[int(np.argmin(errors))]
    assert found.error == pytest.approx(min(errors), rel=1e-8)
    assert found.error_without == pytest.approx(errors[0], rel=1e-8)
    s = cgscore.score(X, y, ridge="auto", method="partition")
    assert s.meta["ridge"] == found.ridge
    assert s.meta["ridge_choice"]["examples"] == 240
    with pytest.raises(OptionError, match="'auto'"):
        cgscore.score(X, y, ridge="some")


def test_what_all_classes_have_in_common_does_not_choose_the_ridge() -> None:
    """Rows at right angles predict no constant, which with many classes is most of the targets."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 30
    X = rng.standard_normal((30, 200))[y] + 5 * rng.standard_normal((300, 200))
    rows, Y = cgscore.kernel.unit_rows(X), class_targets(y, 30)
    found, moved = ridges.least_error(rows, Y), ridges.least_error(rows, Y + 5.0)
    assert moved.ridge == found.ridge
    assert moved.error == pytest.approx(found.error, rel=1e-8)
    assert found.ridge > 10 * ridges.CANDIDATES[0]  # no error is made up for by interpolation


def test_a_sample_has_all_classes_or_some_with_several_examples_each() -> None:
    few, many = np.arange(5000) % 100, np.arange(5000) % 1000
    assert len(np.unique(few[ridges.ridge_sample(few, 0)])) == 100
    sample = ridges.ridge_sample(many, 0)
    assert len(sample) == len(set(sample.tolist())) == ridges.SAMPLE_SIZE
    assert sample.tolist() == sorted(sample.tolist())
    assert set(np.bincount(many[sample]).tolist()) == {0, 5}  # all that such a class has
    large = np.repeat(np.arange(400), 50)
    counts = np.bincount(large[ridges.ridge_sample(large, 0)])
    assert set(counts.tolist()) == {0, ridges.MEMBERS}
    assert ridges.ridge_sample(large, 1).tolist() != ridges.ridge_sample(large, 0).tolist()


def test_thousands_of_classes_do_not_take_the_largest_ridge() -> None:
    """A sample with one example of each class would show nothing of classes."""
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 1500
    X = 3 * rng.standard_normal((1500, 300))[y] + rng.standard_normal((6000, 300))
    s = cgscore.score(X, y, ridge="auto", method="partition")
    assert s.meta["ridge"] < ridges.CANDIDATES[-8]


def test_columns_without_an_example_are_left_out() -> None:
    Y = class_targets(np.array([0, 3, 3, 0]), 5)
    assert ridges.sampled_columns(Y).shape == (4, 2)
    assert ridges.sampled_columns(Y[:, :1]).shape == (4, 1)
    assert ridges.sampled_columns(-np.ones((4, 5))).shape == (4, 5)
    assert ridges.sampled_columns(np.eye(300)).shape == (300, ridges.MAX_CLASSES)


def test_a_fork_waits_for_the_kernel_matrix_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork in the middle of a product can wait forever; one waits for those that hold a turn."""
    held = []

    def noted(*given: Any) -> Any:
        held.append(threading.get_ident() in blas._turns._depth)
        return own_gram(*given)

    monkeypatch.setattr(ridges, "own_gram", noted)
    X = np.random.default_rng(0).standard_normal((30, 4))
    ridges.least_error(unit_rows(X), class_targets(np.arange(30) % 3, 3))
    assert held == [True]
