"""All scores by training at once: each is that of its own module, from shared trainings."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import DataError, LabelError, OptionError, StorageError
from cgscore.training.loop.checkpoint_folder import load_state
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.outputs import outputs
from cgscore.training.loop.records import Records
from cgscore.training.loop.schedule import learning_rate
from cgscore.training.loop.settings import Settings
from cgscore.training.presets import Preset
from cgscore.training.scores.consistency import consistency
from cgscore.training.scores.el2n import el2n
from cgscore.training.scores.forgetting import forgetting
from cgscore.training.scores.grand import grand, grand_last_layer
from cgscore.training.scores.tables import SIGNS
from cgscore.training.scores.tracin import self_influence, tracin
from cgscore.training.shared_runs import NAMES, scores_by_training

torch = pytest.importorskip("torch")

from tests.training.short_runs import Interrupted, images, interrupt_after  # noqa: E402

TINY = Preset(
    "resnet18",
    Settings(epochs=4, learning_rate=0.05, batch_size=16),
    width=2,
    runs=2,
    early=1,
    tracin_every=2,
    validation=9,
    feature_epoch=3,
    reselect_every=2,
    ratios=(0.3,),
    subsets=5,
)
X, CODES = images(40)
Y = np.array(["zebra", "ant", "moth"])[CODES]
X_TEST = X[::-1][:20]
TEST = {"X_test": X_TEST, "y_test": Y[::-1][:20]}
COLUMNS = np.unique(Y, return_inverse=True)[1]  # of the networks' outputs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scores") / "trainings"


@pytest.fixture(scope="module")
def table(folder: Path) -> Any:
    beside = cgscore.score(X.reshape(40, -1), Y)
    return scores_by_training(
        X, Y, preset=TINY, names=NAMES, **TEST, scores=beside, checkpoint=folder, seed=3
    )


def test_every_score_is_that_of_its_module(table: Any, folder: Path) -> None:
    assert table.columns.tolist() == ["id", "given_label", "cg", "partial", *NAMES]
    assert table["given_label"].tolist() == Y.tolist()
    assert set(NAMES) <= set(SIGNS)
    draw = np.random.default_rng(3)
    chosen = np.sort(draw.choice(20, 9, replace=False))
    rates = [learning_rate(TINY.settings, step, 12) for step in (5, 11)]
    right: dict[str, list[Any]] = {name: [] for name in NAMES[:-2]}
    for run in range(2):
        net = TINY.build(3, channels=1)
        inputs = Inputs(X)
        nets = {}
        for epoch in (1, 2, 3, 4):
            net.load_state_dict(load_state(folder / f"run-{run}" / f"epoch-000{epoch}.pt"))
            nets[epoch] = outputs(net, inputs)
            if epoch == 1:
                right["grand"].append(grand([net], inputs, COLUMNS))
            if epoch == 2:
                first = outputs(net, Inputs(X_TEST[chosen], scale=inputs.scale))
        second = outputs(net, Inputs(X_TEST[chosen], scale=inputs.scale))
        codes = COLUMNS[::-1][:20][chosen]
        right["el2n"].append(el2n([nets[1].probability], COLUMNS))
        right["grand_last_layer"].append(grand_last_layer([nets[1]], COLUMNS))
        along = [nets[2], nets[4]]
        right["tracin"].append(tracin(along, COLUMNS, [first, second], codes, rates))
        right["self_influence"].append(self_influence(along, COLUMNS, rates))
        right["feature_cg"].append(cgscore.score(nets[3].features, Y).table["cg"])
        records = Records(folder / f"run-{run}" / "records")
        right["forgetting"].append(forgetting(records.correct))
    for name, runs in right.items():
        assert table[name].to_numpy() == pytest.approx(np.mean(runs, axis=0), rel=1e-4), name
        if name != "forgetting":
            assert (runs[0] != runs[1]).any()  # of networks of their own
    assert sorted(table["random"]) == list(range(40))


def test_c_scores_are_of_networks_that_left_examples_out(table: Any, folder: Path) -> None:
    def right(rows: Any, seed: int) -> Any:
        net = TINY.build(3, channels=1)
        net.load_state_dict(load_state(folder / f"c-score-{seed}" / "state.pt")["model"])
        return outputs(net, Inputs(X)).probability.argmax(axis=1) == COLUMNS

    found = consistency(right, 40, ratios=(0.3,), runs=5, seed=3)
    assert table["c_score"].to_numpy() == pytest.approx(-found.score)
    assert table["c_score"].nunique() > 1


def test_trainings_are_found_again(
    table: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cgscore.training.loop.run.Run._step", None)  # nothing may be trained
    again = scores_by_training(
        X, Y, preset=TINY, names=["c_score", "el2n"], checkpoint=folder, seed=3
    )
    assert again.columns.tolist() == ["id", "given_label", "c_score", "el2n"]
    assert (again["el2n"] == table["el2n"]).all()
    assert (again["c_score"] == table["c_score"]).all()
    with pytest.raises(StorageError, match=r"run-0.*the labels differ"):
        scores_by_training(X, Y[::-1], preset=TINY, names=["el2n"], checkpoint=folder, seed=3)


def test_an_interrupted_call_goes_on(table: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"preset": TINY, "names": ["forgetting", "self_influence"], "seed": 3}
    with pytest.raises(Interrupted):
        scores_by_training(X, Y, checkpoint=tmp_path, progress=interrupt_after(0.6), **options)
    found = scores_by_training(X, Y, checkpoint=tmp_path, **options)
    for name in options["names"]:
        assert (found[name] == table[name]).all()


def test_early_scores_need_no_more_than_early_epochs(table: Any, tmp_path: Path) -> None:
    found = scores_by_training(
        X, Y, preset=TINY, names=["el2n"], runs=1, checkpoint=tmp_path, seed=3
    )
    kept = sorted(path.name for path in (tmp_path / "run-0").glob("epoch-*"))
    assert kept == ["epoch-0001.pt"]
    assert [path.name for path in tmp_path.iterdir()] == ["run-0"]
    more = scores_by_training(X, Y, preset=TINY, names=["el2n"], checkpoint=tmp_path, seed=3)
    assert (more["el2n"] == table["el2n"]).all()
    assert (found["el2n"] != table["el2n"]).any()


def test_without_a_folder_nothing_stays(table: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ["el2n", "c_score", "el2n"]  # asked for twice, it is the same
    found = scores_by_training(X, Y, preset=TINY, names=names, seed=3)
    assert found.columns.tolist() == ["id", "given_label", "el2n", "c_score"]
    assert np.array_equal(found["el2n"], table["el2n"])
    assert np.array_equal(found["c_score"], table["c_score"])
    assert list(tmp_path.iterdir()) == []


def test_wrong_arguments() -> None:
    for error, message, more in (
        (OptionError, "names must be one or more of el2n", {"names": ["beauty"]}),
        (OptionError, r"got \[\]", {"names": []}),
        (OptionError, "tracin needs X_test", {}),
        (OptionError, "runs must be 1 or larger; got 0", {"runs": 0}),
        (DataError, "Expected images", {"X": X.reshape(40, -1)}),
        (LabelError, "y_test has the label 7", {"X_test": X, "y_test": CODES + 5}),
        (LabelError, "same order", {"scores": cgscore.score(X.reshape(40, -1), Y[::-1])}),
    ):
        options: dict[str, Any] = {"X": X, "y": Y, "preset": TINY, **more}
        with pytest.raises(error, match=message):
            scores_by_training(**options)
