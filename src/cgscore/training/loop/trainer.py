"""Training of a classifier, with a record of every example after every epoch.

Everything random is a function of the seed and of the step: the order of examples, their
augmentation, and what layers such as dropout draw. So a run that is interrupted and goes on ends
with the same bits as one that is not, on the CPU of the same machine with as many threads.
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
from cgscore.training.loop.folder import Folder, load
from cgscore.training.loop.inputs import Inputs, Scale
from cgscore.training.loop.presets import Settings
from cgscore.training.loop.records import Records
from cgscore.training.loop.run import Run
from cgscore.training.scores.reselection import Reselection

MANY = 20  # classes, beyond which only the probability of the given label is kept


@dataclass(frozen=True)
class Trained:
    """A trained network and its history.

    Attributes
    ----------
    model : Module
        In its mode for evaluation, on the device it was trained on.
    classes : (k,) array
        The labels of its outputs.
    accuracy : (epochs,) array or None
        Share of the test data that was right after every epoch, if there were any.
    records : Records or None
        Loss, correctness and probabilities of every example after every epoch.
    checkpoints : mapping
        Files of the epochs that were to be kept; 0 is before the first step.
    scale : Scale or None
        How images were normalised: ``Inputs(X, scale=scale)`` is what the model saw.
    steps : int
        How many there were.
    digest : str
        Of the training, for which the files of weights are sealed; empty without a checkpoint.
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
        """A copy of the network with the weights after a kept epoch."""
        if epoch not in self.checkpoints:
            kept = ", ".join(map(str, self.checkpoints)) or "none"
            raise OptionError(f"The weights after epoch {epoch} were not kept. There are: {kept}.")
        model = copy.deepcopy(self.model)
        model.load_state_dict(load(self.checkpoints[epoch], self.digest))
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
    """A copy of `model`, trained on X and y to a small cross-entropy.

    Parameters
    ----------
    model : Module
        Gives k outputs for every example; it stays as it is. Where it has a `scale`, images are
        normalised by that, otherwise by their own mean and deviation.
    X : (n, h, w), (n, h, w, c), (n, c, h, w) or (n, p) array
        Images, or rows of numbers; see `Inputs`.
    y : (n,) array
        Labels of k classes.
    settings : Settings
        For example ``preset("paper", "cifar-10").settings``.
    seed : int
        Of order, augmentation and random layers.
    rows : array, optional
        Positions or a mask of the examples that are trained on; by default all. The number of
        steps and the records are those of all examples whatever `rows` are.
    select : Reselection, optional
        Chooses what is trained on, with weights, before the first epoch and then every few: for
        example ``Craig(0.3)``. The loss of a step is the sum of weights times losses, divided by
        the size of the batch; weights have the mean 1.
    X_test, y_test : arrays, optional
        Evaluated after every epoch.
    checkpoint : path, optional
        A folder from which a run that was interrupted goes on.
    keep : sequence of int
        Epochs whose weights are kept in the checkpoint; 0 is before the first step.
    until : int, optional
        Stop after this epoch of the schedule; with a checkpoint, a later call goes on from there,
        and one that asks for less finds what there is.
    records : bool or str
        Evaluate all examples after every epoch. ``"all"`` keeps the probabilities of all classes,
        ``"given"`` that of the given label; True is ``"all"`` up to 20 classes.
    progress : optional
        As elsewhere, or a `Progress`.
    device : str
        Of torch.

    Raises
    ------
    ConvergenceError
        The loss is not finite any more.
    StorageError
        The checkpoint is of other work, or damaged. The device, the version of torch and the
        number of threads may change between runs; the last digits then may, too.
    """
    if not any(weight.requires_grad for weight in model.parameters()):
        raise OptionError("The model has no weights that can be trained: all are frozen.")
    scale = getattr(model, "scale", None)
    inputs = Inputs(X, scale=scale if isinstance(scale, Scale) else None)
    labels = as_labels(y, len(inputs))
    place = usable(device)
    run = Run(
        model=copy.deepcopy(model).to(place),
        device=place,
        inputs=inputs,
        labels=labels,
        settings=settings,
        seed=checked_seed(seed),
        rows=_checked_rows(rows, len(inputs)),
        select=select,
        test=labelled_test(X_test, y_test, inputs, labels),
        keep=_checked_epochs(keep, settings, checkpoint),
        recorded=_probabilities(records, len(labels.classes)),
        until=settings.epochs if until is None else until,
    )
    if rows is not None and select is not None:
        raise OptionError("rows and select both say what is trained on: give one of them.")
    if not 1 <= run.until <= settings.epochs:
        raise OptionError(f"until={until!r}: expected an epoch from 1 to {settings.epochs}.")
    _check_outputs(run)
    folder = None if checkpoint is None else Folder(Path(checkpoint), run.identity())
    others = range(torch.cuda.device_count()) if place.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices=others):
            found = run.finish(folder, _listening(progress))
    finally:
        if folder:
            folder.close()
    return Trained(
        run.model.eval(),
        labels.classes,
        np.array(run.accuracy) if run.test else None,
        found,
        {epoch: folder.weights(epoch) for epoch in run.keep if epoch <= run.epoch}
        if folder
        else {},
        inputs.scale,
        run.step,
        folder.digest if folder else "",
    )


def _listening(progress: Progress | Listener | bool | None) -> Progress:
    return progress if isinstance(progress, Progress) else reporter(progress)


def checked_seed(seed: int) -> int:
    """A seed, or an `OptionError`."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise OptionError(f"seed={seed!r} makes no sense. Expected a whole number from 0 up.")
    return int(seed)


def _checked_rows(rows: ArrayLike | None, n: int) -> NDArray[np.intp]:
    chosen = np.arange(n) if rows is None else as_positions(rows, n)
    if len(chosen) < 2:
        raise OptionError(f"rows has {len(chosen)} examples. Training needs at least 2.")
    return chosen


def _checked_epochs(keep: Sequence[int], settings: Settings, checkpoint: Any) -> tuple[int, ...]:
    wrong = [epoch for epoch in keep if not 0 <= epoch <= settings.epochs]
    if wrong:
        raise OptionError(
            f"keep={list(keep)}: there is no epoch {wrong[0]}. Choose from 0 to {settings.epochs}."
        )
    if keep and checkpoint is None:
        raise OptionError(f"keep={list(keep)} needs a folder. Give one as checkpoint=.")
    return tuple(sorted({int(epoch) for epoch in keep}))


def _probabilities(records: bool | str, k: int) -> str | None:
    """Which are recorded, if any."""
    if isinstance(records, bool):
        return ("all" if k <= MANY else "given") if records else None
    if records not in ("all", "given"):
        raise OptionError(f"records={records!r} is not known. Choose from: all, given")
    return records


def labelled_test(
    X: ArrayLike | None, y: ArrayLike | None, inputs: Inputs, labels: Labels
) -> tuple[Inputs, NDArray[np.intp]] | None:
    """Test data, normalised as the training data, with the class of each."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise OptionError("X_test and y_test belong together: give both or none.")
    test, values = Inputs(X, scale=inputs.scale, name="X_test"), label_vector(y, "y_test")
    if len(values) != len(test):
        raise LabelError(f"y_test has {len(values):,} labels for {len(test):,} examples.")
    positions = {label: i for i, label in enumerate(labels.classes.tolist())}
    unknown = [label for label in values.tolist() if label not in positions]
    if unknown:
        raise LabelError(f"y_test has the label {unknown[0]!r}, which y does not have.")
    return test, np.array([positions[label] for label in values.tolist()], np.intp)


def _check_outputs(run: Run) -> None:
    """See that the model takes the examples and has an output for every class."""
    shape, k = tuple(run.inputs.values.shape[1:]), len(run.labels.classes)
    training = run.model.training
    try:
        with torch.no_grad():
            found = run.model.eval()(run.inputs.batch(slice(0, 2)).to(run.device))
    except Exception as error:  # whatever a network does with what it does not expect
        raise OptionError(
            f"The model does not take examples of the shape {shape}: {str(error).splitlines()[0]}"
        ) from error
    finally:
        run.model.train(training)
    if not isinstance(found, torch.Tensor):
        raise OptionError(f"The model gives a {type(found).__name__}. Expected a tensor (n, k).")
    if found.shape != (2, k):
        raise OptionError(
            f"The model gives outputs of the shape {tuple(found.shape[1:])}, and y has {k} classes."
            f" Give one with num_classes={k}."
        )
