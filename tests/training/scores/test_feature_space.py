"""Scores in the features of networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cgscore
from cgscore.training.loop.checkpoint_folder import load_state
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.settings import Settings
from cgscore.training.loop.trainer import train
from cgscore.training.models import resnet18
from cgscore.training.scores.feature_space import EPOCHS, feature_space_scores

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


def test_epochs_of_a_training(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(0, 255, (24, 8, 8)).astype(np.uint8)
    y = np.array(["a", "b", "c"])[np.arange(24) % 3]
    settings = Settings(epochs=3, learning_rate=0.05, batch_size=8)
    model = resnet18(3, width=2, channels=1)
    run = train(model, X, y, settings=settings, checkpoint=tmp_path / "run", keep=[1, 3])
    inputs = Inputs(X, scale=run.scale)
    found = feature_space_scores(inputs, y, {epoch: run.at(epoch) for epoch in run.checkpoints})
    assert list(found) == [1, 3]
    for epoch, scores in found.items():
        with torch.no_grad():
            rows = run.at(epoch).features(inputs.batch(slice(None))).numpy()  # type: ignore[operator]
        assert scores.table["cg"].to_numpy() == pytest.approx(
            cgscore.score(rows, y).table["cg"].to_numpy(), rel=1e-3
        )
    files = {epoch: load_state(path) for epoch, path in run.checkpoints.items()}
    again = feature_space_scores(inputs, y, files, model=model)
    assert (again[3].table["cg"] == found[3].table["cg"]).all()
