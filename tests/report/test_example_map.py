"""The map of examples, against eigenvectors of the kernel matrix."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.report.example_map import (
    MAX_POINTS,
    drawn_positions,
    example_map,
    kernel_components,
)

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_components_are_leading_eigenvectors_of_the_centred_kernel() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    scores = cgscore.score(rng.standard_normal((120, 5)) + 2 * np.eye(3, 5)[y], y, ridge=0.1)
    at = np.arange(0, 120, 2)
    components, explained = kernel_components(scores.data(), at, scores)
    H = cgscore.gram(scores.data().X[at])
    centred = H - H.mean(axis=0) - H.mean(axis=1)[:, None] + H.mean()
    variances, vectors = np.linalg.eigh(centred)
    for number in (0, 1):
        exact = vectors[:, -1 - number] * np.sqrt(variances[-1 - number])
        assert np.abs(components[:, number]) == pytest.approx(np.abs(exact), abs=1e-6)
        assert components[np.abs(components[:, number]).argmax(), number] > 0
    assert explained == pytest.approx(variances[-2:].sum() / variances.sum(), rel=0.05)


def test_every_suspect_is_on_the_map() -> None:
    n = 3 * MAX_POINTS
    shown, flagged = np.array([n - 1, 5]), np.arange(100, 400)
    at = drawn_positions(n, shown, flagged)
    assert len(at) == len(np.unique(at)) == MAX_POINTS
    assert set(shown) | set(flagged) <= set(at)
    many = drawn_positions(n, shown, np.arange(n))
    assert len(many) == MAX_POINTS
    assert set(shown) <= set(many)
    assert drawn_positions(7, shown[:0], shown[:0]).tolist() == list(range(7))


def test_the_map_of_a_result(digits: Any) -> None:
    scores, _ = digits
    issues = scores.label_issues()
    found = example_map(scores, scores.data(), issues, np.array([3]))
    assert found is not None
    marked = np.frombuffer(base64.b64decode(found["marked"]), "u1")
    assert marked.tolist() == issues["is_label_issue"].astype(int).tolist()
    x = np.frombuffer(base64.b64decode(found["x"]), "<u2")
    assert (x.min(), x.max()) == (0, 65535)
    to = np.frombuffer(base64.b64decode(found["to"]), "<u2")
    assert to.tolist() == issues["predicted_label"].tolist()
    assert 0 < found["explained"] < 1


def test_examples_that_do_not_differ_have_no_map() -> None:
    X = np.ones((6, 3))
    scores = cgscore.score(X, [0, 1, 0, 1, 0, 1], ridge=0.5)
    assert example_map(scores, scores.data(), None, np.array([], np.intp)) is None
