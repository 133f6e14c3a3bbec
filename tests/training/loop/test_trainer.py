"""Training: steps checked by hand, subsets, seeds, and runs that are cut short."""

from __future__ import annotations

import copy
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import (
    CGScoreWarning,
    ConvergenceError,
    DataError,
    LabelError,
    OptionError,
    StorageError,
)
from cgscore.execution.progress import Silent

torch = pytest.importorskip("torch")

from cgscore.training.loop import run  # noqa: E402
from cgscore.training.loop.inputs import Inputs  # noqa: E402
from cgscore.training.loop.records import Records  # noqa: E402
from cgscore.training.loop.schedule import Batches  # noqa: E402
from cgscore.training.loop.settings import Settings  # noqa: E402
from cgscore.training.loop.trainer import Trained, train  # noqa: E402
from cgscore.training.models import resnet18  # noqa: E402
from cgscore.training.theory.two_layer import two_layer  # noqa: E402
from tests.training.short_runs import (  # noqa: E402
    QUICK,
    Interrupted,
    images,
    interrupt_after,
    linear,
    network,
    same,
    softmax_regression,
)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Bits are compared between processes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_steps_are_those_of_the_formulas() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((11, 4)), np.arange(11) % 3
    settings = Settings(4, 0.3, batch_size=4, momentum=0.8, weight_decay=0.05)
    given = linear(4, 3)
    found = train(given, X, y, settings=settings, seed=5)
    order = Batches(torch.arange(11), 4, 5)
    batches = [order[t].numpy() for t in range(12)]
    assert [len(rows) for rows in batches] == [4, 4, 3] * 4
    for i in range(0, 12, 3):
        assert sorted(np.concatenate(batches[i : i + 3])) == list(range(11))
    assert not np.array_equal(batches[0], batches[3])
    W, b = (given.state_dict()[name].numpy().astype(float) for name in ("weight", "bias"))
    W, b = softmax_regression(W, b, X, np.eye(3)[y], batches, settings)
    state = found.model.state_dict()
    assert np.allclose(state["weight"], W, atol=1e-5)
    assert np.allclose(state["bias"], b, atol=1e-5)
    assert found.steps == 12


def test_subsets_are_trained_for_as_many_steps() -> None:
    X = np.arange(20.0)[:, None] + np.zeros((20, 2))
    y = np.arange(20) % 2
    seen: list[Any] = []

    def watch(model: Any, given: Any) -> None:
        if model.training:
            seen.append(given[0][:, 0].long().tolist())

    model = linear(2, 2)
    model.register_forward_pre_hook(watch)
    kept = [1, 4, 5, 8, 11, 16, 17]
    settings = Settings(6, 1e-5, batch_size=4)
    for rows in (kept, np.isin(np.arange(20), kept)):
        seen.clear()
        found = train(model, X, y, settings=settings, rows=rows)
        assert len(seen) == found.steps == 6 * 5  # as with all 20
        assert [len(batch) for batch in seen] == [4, 3] * 15
        counts = np.bincount(np.concatenate(seen), minlength=20)
        assert counts.tolist() == [15 if row in kept else 0 for row in range(20)]
        assert found.records is not None
        assert found.records.loss.shape == (6, 20)  # of all examples
    seen.clear()
    train(model, X, y, settings=settings, rows=range(9))
    assert {len(batch) for batch in seen} == {4}  # none of a single example
    assert np.bincount(np.concatenate(seen)).min() > 10


def test_records_are_of_the_model_after_every_epoch(tmp_path: Path) -> None:
    X, y = images()
    found = train(network(), X, y, settings=QUICK, checkpoint=tmp_path / "run", keep=range(4))
    assert found.records is not None
    assert found.records.probability.shape == (3, 30, 3)
    assert list(found.checkpoints) == [0, 1, 2, 3]
    assert same(found.at(0), network())
    assert same(found.at(3), found.model)
    codes = torch.tensor(y)
    for epoch in (1, 2, 3):
        with torch.no_grad():
            outputs = found.at(epoch)(Inputs(X, scale=found.scale).batch(slice(None)))
        loss = torch.nn.functional.cross_entropy(outputs, codes, reduction="none")
        recorded = found.records
        assert np.allclose(recorded.loss[epoch - 1], loss, atol=1e-5)
        assert np.array_equal(recorded.correct[epoch - 1], outputs.argmax(1) == codes)
        assert np.allclose(recorded.probability[epoch - 1], outputs.softmax(1), atol=1e-3)
    with pytest.raises(OptionError, match=r"\(0, 1, 2, 3\); got 4"):
        found.at(4)


def test_a_network_learns_and_labels_may_be_anything() -> None:
    X, y = images(60)
    names = np.array(["zebra", "ant", "moth"])
    settings = Settings(epochs=8, learning_rate=0.1, batch_size=8, augment=False)
    found = train(
        resnet18(3, width=4, channels=1),
        X[:40],
        names[y[:40]].tolist(),
        settings=settings,
        X_test=X[40:],
        y_test=names[y[40:]],
    )
    assert found.classes.tolist() == ["ant", "moth", "zebra"]
    assert found.accuracy is not None
    assert len(found.accuracy) == 8
    with torch.no_grad():
        outputs = found.model(Inputs(X[40:], scale=found.scale).batch(slice(None)))
    predicted = found.classes[outputs.argmax(1).numpy()]
    assert found.accuracy[-1] == (predicted == names[y[40:]]).mean()
    assert found.accuracy[-1] > 0.5  # a third by chance
    assert not found.model.training


def test_a_seed_gives_the_same_bits() -> None:
    X, y = images()
    given = network()
    before = copy.deepcopy(given)
    torch.manual_seed(1)
    first = train(given, X, y, settings=QUICK)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    again = train(copy.deepcopy(given).eval(), X, y, settings=QUICK, records=False)
    assert torch.equal(torch.get_rng_state(), state)
    assert same(given, before)
    assert same(first.model, again.model)  # whatever its mode was, evaluated or not
    assert not same(first.model, train(given, X, y, settings=QUICK, seed=1).model)
    plain = replace(QUICK, augment=False)
    assert not same(first.model, train(given, X, y, settings=plain).model)


def test_a_training_that_stops_early_goes_on(tmp_path: Path) -> None:
    X, y = images()
    options: dict[str, Any] = {"settings": QUICK, "keep": (1, 3), "records": "given"}
    whole = train(network(), X, y, checkpoint=tmp_path / "whole", **options)
    part = train(network(), X, y, checkpoint=tmp_path / "part", until=1, **options)
    assert (part.steps, list(part.checkpoints)) == (4, [1])
    assert part.records is not None
    assert len(part.records) == 1
    assert same(part.model, whole.at(1))  # the schedule is that of all epochs
    rest = train(network(), X, y, checkpoint=tmp_path / "part", **options)
    assert same(rest.model, whole.model)
    again = train(network(), X, y, checkpoint=tmp_path / "part", until=1, **options)
    assert (again.steps, list(again.checkpoints)) == (12, [1, 3])
    for until in (0, 4):
        with pytest.raises(OptionError, match="from 1 to 3"):
            train(network(), X, y, settings=QUICK, until=until)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_an_interrupted_run_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, optimiser: str
) -> None:
    X, y = images()
    options: dict[str, Any] = {
        "settings": replace(QUICK, optimiser=optimiser),
        "rows": np.arange(0, 30, 2),
        "X_test": X[1::2],
        "y_test": y[1::2],
        "keep": (0, 2),
    }
    whole = train(network(), X, y, checkpoint=tmp_path / "whole", **options)
    monkeypatch.setattr(run, "SAVE_INTERVAL", 0.0)  # the state is saved at every step
    for part in (0.1, 0.45, 0.75, 0.97):
        with pytest.raises(Interrupted):
            train(
                network(),
                X,
                y,
                checkpoint=tmp_path / "cut",
                progress=interrupt_after(part),
                **options,
            )
    heard: list[float] = []
    cut = train(
        network(),
        *(X, y),
        checkpoint=tmp_path / "cut",
        progress=lambda _, done: heard.append(done),
        **options,
    )
    assert heard[1] > 0.9  # it went on where it was
    check_alike(tmp_path / "whole", tmp_path / "cut", whole, cut)
    monkeypatch.setattr(run.Run, "_step", None)  # nothing is left to do
    check_alike(
        tmp_path / "whole",
        tmp_path / "cut",
        whole,
        train(network(), X, y, checkpoint=tmp_path / "cut", progress=Silent(), **options),
    )


def check_alike(folder: Path, other: Path, whole: Trained, cut: Trained) -> None:
    assert same(whole.model, cut.model)
    assert np.array_equal(whole.accuracy, cut.accuracy)  # type: ignore[arg-type]
    assert (folder / "records").read_bytes() == (other / "records").read_bytes()
    for epoch in (0, 2):
        assert same(whole.at(epoch), cut.at(epoch))


KILLED = """
import os, signal, sys
import numpy as np, torch
torch.set_num_threads(1)
from cgscore.training.models import resnet18
from cgscore.training.loop.settings import Settings
from cgscore.training.loop.trainer import train

def listen(_, done):
    if done > 0.6:
        os.kill(os.getpid(), signal.SIGKILL)

data = np.load("data.npz")
train(resnet18(3, width=2, channels=1), data["X"], data["y"], progress=listen, checkpoint="cut",
      settings=Settings(epochs=4, learning_rate=0.05, batch_size=8))
"""


def test_a_killed_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    X, y = images()
    np.savez(tmp_path / "data.npz", X=X, y=y)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=tmp_path, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(Records(tmp_path / "cut" / "records")) == 2
    assert (tmp_path / "cut" / "state.pt").exists()
    (tmp_path / "cut" / ".state.pt.1-1.part").write_text("what a kill leaves behind")
    model, settings = resnet18(3, width=2, channels=1), replace(QUICK, epochs=4)
    whole = train(model, X, y, settings=settings, checkpoint=tmp_path / "whole")
    cut = train(model, X, y, settings=settings, checkpoint=tmp_path / "cut")
    assert same(whole.model, cut.model)
    for name in ("records", "checkpoint.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()
    assert not list((tmp_path / "cut").glob("*.part"))


def test_a_checkpoint_of_other_work_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4)), np.arange(20) % 2
    options: dict[str, Any] = {"settings": QUICK, "checkpoint": tmp_path, "X_test": X, "y_test": y}
    train(linear(4, 2), X, y, **options)
    other = X.copy()
    other[3, 3] += 1
    for message, model, inputs, labels, more in (
        ("the data differ", linear(4, 2), other, y, {}),
        ("the labels differ", linear(4, 2), X, 1 - y, {}),
        ("the labels differ", linear(4, 2), X, y * 2, {"y_test": y * 2}),
        ("layers or weights at the start differ", torch.nn.Linear(4, 2), X, y, {}),
        ("the seed differs: 0, now 3", linear(4, 2), X, y, {"seed": 3}),
        ("the rows trained on differ", linear(4, 2), X, y, {"rows": range(10)}),
        ("the test data differ", linear(4, 2), X, y, {"y_test": 1 - y}),
        (
            "the training differs: .*epochs=3.*epochs=4",
            linear(4, 2),
            X,
            y,
            {"settings": replace(QUICK, epochs=4)},
        ),
        ("the training differs", linear(4, 2), X, y, {"records": "given"}),
        ("the training differs", linear(4, 2), X, y, {"keep": [1]}),
    ):
        with pytest.raises(StorageError, match=message):
            train(model, inputs, labels, **{**options, **more})
    (tmp_path / "state.pt").write_bytes(b"no state")
    with pytest.warns(CGScoreWarning, match=r"computed again: state.pt. The training starts again"):
        train(linear(4, 2), X, y, **options)


def test_probabilities_of_many_classes() -> None:
    X, y = np.random.default_rng(0).standard_normal((42, 4)), np.arange(42) % 21
    one = replace(QUICK, epochs=1)
    shapes = {}
    for records in (True, "all", "given"):
        found = train(linear(4, 21), X, y, settings=one, records=records).records
        assert found is not None
        shapes[records] = found.probability.shape
    assert shapes == {True: (1, 42), "all": (1, 42, 21), "given": (1, 42)}
    assert train(linear(4, 21), X, y, settings=one, records=False).records is None


def test_wrong_arguments(tmp_path: Path) -> None:
    X, y = images(10)
    model = resnet18(3, width=2, channels=1)
    for error, message, more in (
        (OptionError, "num_classes=3", {"model": resnet18(4, width=2, channels=1)}),
        (OptionError, r"the shape \(1, 8, 8\)", {"model": resnet18(3, width=2)}),
        (OptionError, r"the shape \(1, 8, 8\)", {"model": two_layer(5, 5, num_classes=3)}),
        (LabelError, "9 labels for 10 examples", {"y": y[:9]}),
        (OptionError, "rows must have at least 2 examples; got 1", {"rows": [3]}),
        (OptionError, "do not fit", {"rows": [3, 10]}),
        (OptionError, "needs a folder", {"keep": [1]}),
        (OptionError, "from 0 to 3; got 4", {"keep": [4], "checkpoint": tmp_path}),
        (OptionError, "'all' or 'given'; got 'some'", {"records": "some"}),
        (OptionError, "must be given together", {"X_test": X}),
        (
            LabelError,
            "the label 30, which y does not have",
            {"X_test": X, "y_test": y + 30 * (y == 0)},
        ),
        (LabelError, "y_test has 5 labels", {"X_test": X, "y_test": y[:5]}),
        (OptionError, "seed must be .* got -1", {"seed": -1}),
        (OptionError, "cannot be used here", {"device": "cuda:99"}),
    ):
        options: dict[str, Any] = {"model": model, "X": X, "y": y, "settings": QUICK, **more}
        with pytest.raises(error, match=message):
            train(**options)
    wild = Settings(3, 1e30, batch_size=4, augment=False)
    with pytest.raises(ConvergenceError, match="diverged in epoch 1"):
        train(linear(3, 2), 1e10 * np.eye(8, 3), np.arange(8) % 2, settings=wild)


def test_the_range_of_values_is_that_of_training() -> None:
    """Bytes are bytes in whatever type they come; what is of another range is refused."""
    X, y = images()
    options: dict[str, Any] = {"settings": QUICK, "y_test": y, "records": False}
    right: list[Any] = [
        train(network(), X.astype(kind), y, X_test=X.astype(other), **options).accuracy
        for kind, other in (("uint8", "uint8"), ("int64", "uint8"), ("uint8", "int32"))
    ]
    assert np.array_equal(right[0], right[1])
    assert np.array_equal(right[0], right[2])
    with pytest.raises(DataError, match="Give both as bytes"):
        train(network(), X, y, X_test=X.astype(np.float32), **options)


def test_what_is_damaged_or_from_elsewhere_is_trained_again(tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).standard_normal((20, 4)), np.arange(20) % 2
    options: dict[str, Any] = {"settings": QUICK, "keep": [1, 2]}
    whole = train(linear(4, 2), X, y, checkpoint=tmp_path / "here", **options)
    train(linear(4, 2), X[::-1], y, checkpoint=tmp_path / "there", **options)
    names = ("state.pt", "records", "epoch-0001.pt", "epoch-0002.pt")
    contents = {name: (tmp_path / "here" / name).read_bytes() for name in names}
    foreign = {name: (tmp_path / "there" / name).read_bytes() for name in names}
    for name in ("state.pt", "records"):
        raw = contents[name]
        flips = [
            raw[:place] + bytes([raw[place] ^ 4]) + raw[place + 1 :]
            for place in (3, 12, 45, len(raw) // 2, len(raw) - 9)
        ]
        for damage in (*flips, raw[: len(raw) // 2], b"", foreign[name]):
            for other, content in {**contents, name: damage}.items():
                (tmp_path / "here" / other).write_bytes(content)
            with pytest.warns(CGScoreWarning, match=f"computed again: {name}"):
                again = train(linear(4, 2), X, y, checkpoint=tmp_path / "here", **options)
            assert same(whole.model, again.model)
            assert again.records is not None
            assert whole.records is not None
            assert np.array_equal(again.records.loss, whole.records.loss)
    for damage in (contents["epoch-0002.pt"], foreign["epoch-0001.pt"], b""):
        (tmp_path / "here" / "epoch-0001.pt").write_bytes(damage)
        with pytest.raises(StorageError, match="it is damaged, renamed, of another training"):
            whole.at(1)


def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path) -> None:
    X, y = images()
    train(network(), X, y, settings=QUICK, until=1, checkpoint=tmp_path)
    other = network()
    other.stages[-1].p = 0.9
    frozen = network()
    frozen.head.requires_grad_(False)
    for model in (other, frozen):
        with pytest.raises(StorageError, match="layers or weights at the start"):
            train(model, X, y, settings=QUICK, checkpoint=tmp_path)


def test_networks_that_cannot_be_trained() -> None:
    X, y = images()
    frozen, scaled = network().requires_grad_(False), network()
    scaled.scale = 0.5  # an attribute of its own, not how images are normalised
    assert train(scaled, X, y, settings=QUICK, records=False).steps > 0
    with pytest.raises(OptionError, match="all are frozen"):
        train(frozen, X, y, settings=QUICK)

    mapping = network()
    mapping.forward = lambda x: {"logits": x}
    with pytest.raises(OptionError, match="returns a dict"):
        train(mapping, X, y, settings=QUICK)
    for seed in (-1, 1.5, True):
        with pytest.raises(OptionError, match="seed"):
            train(network(), X, y, settings=QUICK, seed=seed)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="not an array"):
        train(network(), [[1, 2], [3]], y, settings=QUICK)
