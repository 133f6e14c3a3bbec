"""Scores in the features of networks."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.training.feature_space import EPOCHS, feature_space_scores

torch = pytest.importorskip("torch")

from tests.training.tiny import Tiny, images  # noqa: E402


def test_it_is_the_score_of_the_features() -> None:
    X, y = images(30), np.arange(30) % 3
    first, tenth = Tiny(seed=1).eval(), Tiny(seed=2).eval()
    found = feature_space_scores(X, y, {1: first, 10: tenth.state_dict()}, model=Tiny(), ridge=0.1)
    assert list(found) == [1, 10]
    for net, scores in zip((first, tenth), found.values(), strict=True):
        with torch.no_grad():
            right = cgscore.score(net.features(X).numpy(), y, ridge=0.1)
        assert scores.table["cg"].to_numpy() == pytest.approx(right.table["cg"].to_numpy())
    assert (found[1].table["cg"] != found[10].table["cg"]).all()
    assert EPOCHS == (1, 3, 5, 7, 9, 11, 20, 50, 200)
