"""Training of a classifier, with records of every example after every epoch.

All random numbers are functions of the seed and of the step: the order of examples, their
augmentation, and the draws of layers such as dropout. A run that is interrupted and resumed
therefore ends with the same bits as an uninterrupted one, on the CPU of the same machine with the
same number of threads.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from cgscore.errors import LabelError, OptionError
from cgscore.execution.accelerator import usable
from cgscore.execution.progress import Listener, Progress, reporter
from cgscore.labels import Labels, as_labels, label_vector
from cgscore.selection.orders import as_positions
from cgscore.training.loop.checkpoint_folder import CheckpointFolder, load_state
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.records import Records
from cgscore.training.loop.reselection import Reselection
from cgscore.training.loop.run import Run
from cgscore.training.loop.settings import Settings
from cgscore.training.networks.classifier import Classifier
from cgscore.training.networks.scale import Scale

INITIAL_IMAGES = 5_000  # that a network may see to initialise weights
MAX_RECORDED_CLASSES = 20  # with more, only the probability of the given label is recorded


@dataclass(frozen=True)
class Trained:
    """A trained network and its history.

    Attributes
    ----------
    model : Module
        In evaluation mode, on the device it was trained on.
    classes : (k,) array
        The labels of its outputs.
    accuracy : (epochs,) array or None
        Accuracy on the test data after every epoch, if test data were given.
    records : Records or None
        Loss, correctness and probabilities of every example after every epoch.
    checkpoints : mapping
        Files of the saved epochs; epoch 0 is before the first step.
    scale : Scale or None
        How images were normalised: ``Inputs(X, scale=scale)`` is what the model saw.
    steps : int
        Number of steps.
    digest : str
        Digest of the training, which is in the files of weights; empty without a checkpoint.
    """

    model: nn.Module
    classes: NDArray[Any]
    accuracy: NDArray[np.float64] | None
    records: Records | None
    checkpoints: Mapping[int, Path]
    scale: Scale | None
    steps: int
    digest: str = ""

    def at(self, epoch: int) -> nn.Module:
        """A copy of the network with the weights after a saved epoch."""
        if epoch not in self.checkpoints:
            saved = ", ".join(map(str, self.checkpoints)) or "none"
            raise OptionError(
                f"epoch must be one whose weights were saved ({saved}); got {epoch}. List it in "
                "keep= of train."
            )
        model = copy.deepcopy(self.model)
        model.load_state_dict(load_state(self.checkpoints[epoch], self.digest))
        return model


def train(
    model: nn.Module,
    X: ArrayLike,
    y: ArrayLike,
    *,
    settings: Settings,
    seed: int = 0,
    rows: ArrayLike | None = None,
    select: Reselection | None = None,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    keep: Sequence[int] = (),
    until: int | None = None,
    records: bool | str = True,
    progress: Progress | Listener | bool | None = None,
    device: str = "cpu",
) -> Trained:
    """A copy of `model`, trained on X and y to minimise the cross-entropy.

    Parameters
    ----------
    model : Module
        Returns k outputs for every example; it is not changed. If it has a `scale`, images are
        normalised by that, otherwise by their own mean and standard deviation.
    X : (n, h, w), (n, h, w, c), (n, c, h, w) or (n, p) array
        Images, or rows of numbers; see `Inputs`.
    y : (n,) array
        Labels of k classes.
    settings : Settings
        For example ``preset("paper", "cifar-10").settings``.
    seed : int
        Seed of order, augmentation and random layers.
    rows : array, optional
        Positions or mask of the examples to train on; by default all. The number of steps and the
        records are those of all examples in either case.
    select : Reselection, optional
        Selects the examples to train on, with weights, before the first epoch and again every few
        epochs: for example ``Craig(0.3)``. The loss of a step is the sum of weights times losses,
        divided by the batch size; weights are scaled to mean 1.
    X_test, y_test : arrays, optional
        Test data, evaluated after every epoch.
    checkpoint : path, optional
        A folder from which an interrupted run resumes.
    keep : sequence of int
        Epochs whose weights are saved in the checkpoint; 0 is before the first step.
    until : int, optional
        Stop after this epoch of the schedule. With a checkpoint, a later call continues from
        there; one with a smaller `until` returns the saved state.
    records : bool or str
        Evaluate all examples after every epoch. ``"all"`` records the probabilities of all
        classes, ``"given"`` that of the given label; True is ``"all"`` for up to 20 classes, and
        ``"given"`` for more.
    progress : bool, function or Progress, optional
        As for `cgscore.score`, or a `Progress`.
    device : str
        Torch device to train on.

    Raises
    ------
    ConvergenceError
        The loss is no longer finite.
    StorageError
        The checkpoint belongs to other work, or is damaged. The device, the version of torch and
        the number of threads may change between runs; the last digits may then change, too.
    """
    if not any(weight.requires_grad for weight in model.parameters()):
        raise OptionError(
            "model has no weights to train: all are frozen. Set requires_grad on some of them."
        )
    scale = getattr(model, "scale", None)
    inputs = Inputs(X, scale=scale if isinstance(scale, Scale) else None)
    labels = as_labels(y, len(inputs))
    place = usable(device)
    trained_model = copy.deepcopy(model)
    if isinstance(trained_model, Classifier) and inputs.is_image:
        trained_model.initialise(inputs.batch(slice(0, INITIAL_IMAGES)))
    run = Run(
        model=trained_model.to(place),
        device=place,
        inputs=inputs,
        labels=labels,
        settings=settings,
        seed=checked_seed(seed),
        rows=_checked_rows(rows, len(inputs)),
        select=select,
        test=coded_test_data(X_test, y_test, inputs, labels),
        keep=_checked_epochs(keep, settings, checkpoint),
        recorded=_probabilities(records, len(labels.classes)),
        until=settings.epochs if until is None else until,
    )
    if rows is not None and select is not None:
        raise OptionError("rows and select both choose the examples to train on. Give one of them.")
    if not 1 <= run.until <= settings.epochs:
        raise OptionError(f"until must be an epoch from 1 to {settings.epochs}; got {until!r}.")
    _check_outputs(run)
    folder = None if checkpoint is None else CheckpointFolder(Path(checkpoint), run.identity())
    generators = range(torch.cuda.device_count()) if place.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices=generators):
            history = run.finish(folder, _as_progress(progress))
    finally:
        if folder:
            folder.close()
    return Trained(
        run.model.eval(),
        labels.classes,
        np.array(run.accuracy) if run.test else None,
        history,
        {epoch: folder.weights(epoch) for epoch in run.keep if epoch <= run.epoch}
        if folder
        else {},
        inputs.scale,
        run.step,
        folder.digest if folder else "",
    )


def _as_progress(progress: Progress | Listener | bool | None) -> Progress:
    return progress if isinstance(progress, Progress) else reporter(progress)


def checked_seed(seed: int) -> int:
    """The seed as an int, or an `OptionError`."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise OptionError(f"seed must be a whole number, 0 or larger; got {seed!r}.")
    return int(seed)


def _checked_rows(rows: ArrayLike | None, n: int) -> NDArray[np.intp]:
    positions = np.arange(n) if rows is None else as_positions(rows, n)
    if len(positions) < 2:
        raise OptionError(f"rows must have at least 2 examples; got {len(positions)}.")
    return positions


def _checked_epochs(keep: Sequence[int], settings: Settings, checkpoint: Any) -> tuple[int, ...]:
    wrong = [epoch for epoch in keep if not 0 <= epoch <= settings.epochs]
    if wrong:
        raise OptionError(
            f"keep must be epochs from 0 to {settings.epochs}; got {wrong[0]} in {list(keep)}."
        )
    if keep and checkpoint is None:
        raise OptionError(f"keep={list(keep)} needs a folder. Give it as checkpoint=.")
    return tuple(sorted({int(epoch) for epoch in keep}))


def _probabilities(records: bool | str, k: int) -> str | None:
    """Which probabilities are recorded; None for no records."""
    if isinstance(records, bool):
        return ("all" if k <= MAX_RECORDED_CLASSES else "given") if records else None
    if records not in ("all", "given"):
        raise OptionError(f"records must be a bool, 'all' or 'given'; got {records!r}.")
    return records


def coded_test_data(
    X: ArrayLike | None, y: ArrayLike | None, inputs: Inputs, labels: Labels
) -> tuple[Inputs, NDArray[np.intp]] | None:
    """Test data, normalised like the training data, with the class code of each example."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise OptionError("X_test and y_test must be given together. Give both or neither.")
    test, values = Inputs(X, scale=inputs.scale, name="X_test"), label_vector(y, "y_test")
    if len(values) != len(test):
        raise LabelError(
            f"y_test has {len(values):,} labels for the {len(test):,} examples of X_test."
        )
    positions = {label: i for i, label in enumerate(labels.classes.tolist())}
    unknown = [label for label in values.tolist() if label not in positions]
    if unknown:
        raise LabelError(
            f"y_test has the label {unknown[0]!r}, which y does not have. Expected labels of y."
        )
    return test, np.array([positions[label] for label in values.tolist()], np.intp)


def _check_outputs(run: Run) -> None:
    """Check that the model accepts the examples and has one output per class."""
    shape, k = tuple(run.inputs.values.shape[1:]), len(run.labels.classes)
    training = run.model.training
    try:
        with torch.no_grad():
            logits = run.model.eval()(run.inputs.batch(slice(0, 2)).to(run.device))
    except Exception as error:  # a network may raise anything
        raise OptionError(
            f"model does not accept examples of the shape {shape}: {str(error).splitlines()[0]}"
        ) from error
    finally:
        run.model.train(training)
    if not isinstance(logits, torch.Tensor):
        raise OptionError(
            f"model returns a {type(logits).__name__}. Expected a tensor of the shape (n, k)."
        )
    if logits.shape != (2, k):
        raise OptionError(
            f"model returns outputs of the shape {tuple(logits.shape[1:])} for an example, and y "
            f"has {k} classes. Build it with num_classes={k}."
        )
