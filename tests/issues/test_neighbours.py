"""The neighbours of suspects, and their shares in the prediction."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.execution.progress import Silent
from cgscore.issues.neighbours import neighbours
from cgscore.kernel import RELU
from cgscore.valuation import class_targets
from tests.issues.examples import blobs

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_neighbours_carry_their_part_of_the_prediction(ridge: float) -> None:
    X, y = blobs([40, 40, 40], apart=1.0)
    y[7] = 1
    X[9] = X[8]  # a copy
    s = cgscore.score(X, y, ridge=ridge)
    told = neighbours(s.data(), [7], s.codes(), [0], ridge=ridge, kernel=RELU, progress=Silent())
    assert told["side"].tolist() == ["given"] * 3 + ["suggested"] * 3
    rows = np.delete(np.arange(120), 9) if ridge == 0 else np.arange(120)
    inverse = np.linalg.inv(cgscore.gram(X[rows]) + ridge * np.eye(len(rows)))
    weight = -inverse[7] / inverse[7, 7]
    weight[7] = 0
    prediction = weight @ class_targets(y[rows], 3)
    np.testing.assert_allclose(prediction, s.loo[7], rtol=1e-6)
    share = np.maximum(weight, 0) / np.maximum(weight, 0).sum()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for _, row in told.iterrows():
        near = int(row["neighbour"])
        assert y[near] == (1 if row["side"] == "given" else 0)
        if near not in (8, 9):
            assert row["share"] == pytest.approx(share[np.searchsorted(rows, near)], abs=1e-9)
        assert row["similarity"] == pytest.approx(unit[7] @ unit[near])


def test_factor_and_conjugate_gradients_give_the_same_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = blobs([60, 60], apart=1.0)
    s = cgscore.score(X, y, ridge=0.1)
    arguments = (s.data(), [3, 70], s.codes(), [1, 0])

    def shares() -> list[float]:
        return neighbours(*arguments, ridge=0.1, kernel=RELU, progress=Silent())["share"].tolist()

    direct = shares()
    monkeypatch.setattr("cgscore.issues.neighbours.ITERATIONS", 0)
    assert shares() == pytest.approx(direct, abs=2e-3)


def test_without_classes_the_most_similar_of_all() -> None:
    X, _ = blobs([40, 40], apart=1.0)
    s = cgscore.score(X, X[:, 0], ridge=0.1)
    near = neighbours(s.data(), [5], ridge=0.1, kernel=RELU, progress=Silent())
    assert near["side"].tolist() == ["similar"] * 3
    cosines = cgscore.gram(X)[5]  # grows with the cosine
    cosines[5] = -1
    assert near["neighbour_position"].tolist() == np.argsort(-cosines)[:3].tolist()
