"""Real training on a thousand images of Fashion-MNIST."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import cgscore

torch = pytest.importorskip("torch")

from cgscore.training.loop.checkpoint_folder import load_state  # noqa: E402
from cgscore.training.loop.inputs import Inputs  # noqa: E402
from cgscore.training.loop.outputs import outputs  # noqa: E402
from cgscore.training.loop.records import Records  # noqa: E402
from cgscore.training.loop.trainer import train  # noqa: E402
from cgscore.training.presets import preset  # noqa: E402
from cgscore.training.scores.dynamics import dynamics  # noqa: E402
from cgscore.training.scores.forgetting import forgetting  # noqa: E402
from cgscore.training.shared_runs import scores_by_training  # noqa: E402

pytestmark = pytest.mark.slow

N = 1000
DESK = preset("desk")
SMALL = replace(
    DESK,
    settings=replace(DESK.settings, epochs=8, learning_rate=0.05, batch_size=32, augment=False),
    runs=1,
    early=4,
)


def images(real_data: Path, split: str) -> tuple[Any, Any]:
    data = cgscore.read(real_data / "fashion-mnist", split=split)
    assert data.y is not None
    return data.X[:N], data.y[:N].copy()


def test_wrong_labels_stand_out(real_data: Path) -> None:
    X, y = images(real_data, "train")
    rng = np.random.default_rng(0)
    wrong = rng.random(N) < 0.2
    y[wrong] = (y[wrong] + rng.integers(1, 10, wrong.sum())) % 10
    names = ("el2n", "grand", "self_influence", "feature_cg")
    table = scores_by_training(X, y, preset=SMALL, names=names)
    found = {name: roc_auc_score(wrong, table[name]) for name in names}
    # measured: 0.94, 0.81, 0.93 and 0.89
    for name, least in (
        ("el2n", 0.85),
        ("grand", 0.7),
        ("self_influence", 0.85),
        ("feature_cg", 0.8),
    ):
        assert found[name] > least, found


def test_hard_examples_are_learned_late(real_data: Path, tmp_path: Path) -> None:
    X, y = images(real_data, "train")
    X_test, y_test = images(real_data, "test")
    table = scores_by_training(
        X,
        y,
        preset=SMALL,
        names=("el2n", "forgetting"),
        scores=cgscore.score(X.reshape(N, -1), y),
        checkpoint=tmp_path,
    )
    net = SMALL.build(10, channels=1)
    net.load_state_dict(load_state(tmp_path / "run-0" / "epoch-0008.pt"))
    found = outputs(net, Inputs(X_test, scale=Inputs(X).scale)).probability.argmax(axis=1)
    assert (found == y_test).mean() > 0.7  # measured: 0.79
    records = Records(tmp_path / "run-0" / "records")
    cg = table["cg"]
    last = forgetting(records.correct, never_learned="last")
    assert spearmanr(cg, table["el2n"]).statistic > 0.4  # measured: 0.61
    assert spearmanr(cg, table["forgetting"]).statistic > 0.1  # measured: 0.19
    assert spearmanr(cg, last).statistic > 0.2  # measured: 0.34
    by_level = dynamics(cg, records.loss, records.correct).set_index(["level", "epoch"])
    low, high = by_level.loc[1], by_level.loc[10]
    # over all epochs: a single epoch of a short training may come out either way
    assert low["loss"].mean() < high["loss"].mean()
    assert low["accuracy"].mean() > high["accuracy"].mean() + 0.2  # measured: 0.45 apart


def test_craig_trains_on_a_third(real_data: Path) -> None:
    X, y = images(real_data, "train")
    X_test, y_test = images(real_data, "test")
    found = train(
        SMALL.build(10, channels=1),
        *(X, y),
        settings=SMALL.settings,
        select=SMALL.craig(0.3),
        X_test=X_test,
        y_test=y_test,
        records=False,
    )
    assert found.accuracy is not None
    assert found.accuracy[-1] > 0.65  # measured: 0.78
