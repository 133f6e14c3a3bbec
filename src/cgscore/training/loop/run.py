"""A training run: its steps, the end of each epoch, and its state."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
import xxhash
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from cgscore.errors import ConvergenceError, OptionError, StorageError
from cgscore.execution.checkpoint import digest_of
from cgscore.execution.progress import Advance, Progress
from cgscore.labels import Labels
from cgscore.training.loop.checkpoint_folder import CheckpointFolder
from cgscore.training.loop.evaluation import evaluate
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.records import Recorder, Records
from cgscore.training.loop.reselection import Reselection
from cgscore.training.loop.schedule import (
    AUGMENTATION,
    LAYERS,
    Batches,
    derived_seed,
    generator,
    learning_rate,
    step_count,
    steps_per_epoch,
)
from cgscore.training.loop.settings import Settings

SAVE_INTERVAL = 300.0  # seconds after which the state is saved within an epoch

_FORMAT = 2
_STEP_COST = 3  # cost of a training step, in evaluations of its examples


def training_cost(settings: Settings, n: int, *, n_test: int = 0, records: bool = True) -> float:
    """The total that a training reports to `Progress`, in evaluations of an example."""
    steps = step_count(settings, n) * _STEP_COST * settings.batch_size
    return float(steps + settings.epochs * (n_test + (n if records else 0)))


@dataclass
class Run:
    """A training and its current state.

    Attributes
    ----------
    model : Module
        Trained in place.
    device : torch.device
        Where `model` is.
    inputs, labels : Inputs, Labels
        All n examples.
    settings : Settings
        How the model is trained.
    seed : int
        Seed of order, augmentation and random layers.
    rows : (m,) array
        Positions of the examples to train on, unless `select` selects them.
    select : Reselection or None
        Selects the examples to train on, with weights.
    test : (Inputs, array) or None
        Test data with the class of each example.
    keep : tuple of int
        Epochs whose weights are saved.
    recorded : {"all", "given", None}
        Which probabilities are recorded; None writes no records.
    until : int
        The epoch after which to stop. A later run may continue.
    step : int
        Number of finished steps.
    accuracy : list of float
        Accuracy on the test data after each finished epoch.
    """

    model: nn.Module
    device: torch.device
    inputs: Inputs
    labels: Labels
    settings: Settings
    seed: int
    rows: NDArray[np.intp]
    select: Reselection | None
    test: tuple[Inputs, NDArray[np.intp]] | None
    keep: tuple[int, ...]
    recorded: str | None
    until: int
    step: int = 0
    accuracy: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.inputs)
        self.steps = step_count(self.settings, n)
        self._per_epoch = steps_per_epoch(self.settings, n)
        self._codes = torch.as_tensor(self.labels.codes, dtype=torch.long)
        all_rows = torch.as_tensor(self.rows, dtype=torch.long)
        self._train_on(all_rows, torch.ones(n), first_step=0)
        self._optimiser = _optimiser(self.model, self.settings)

    @property
    def epoch(self) -> int:
        """Number of finished epochs."""
        return self.step // self._per_epoch

    def identity(self) -> dict[str, Any]:
        """Everything that determines the result, except the machine."""
        weights = xxhash.xxh3_128()
        for name, value in self.model.state_dict().items():
            weights.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
            weights.update(value.cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        trained = [name for name, value in self.model.named_parameters() if value.requires_grad]
        weights.update(f"{type(self.model).__qualname__} {self.model!r} {trained}".encode())
        return {
            "format": _FORMAT,
            "method": "training",
            "inputs": _digest(self.inputs),
            "labels": f"{digest_of(self.labels.codes)} {self.labels.classes.tolist()}",
            "seed": self.seed,
            "model": weights.hexdigest(),
            "subset": digest_of(self.rows),
            "test": self.test and f"{_digest(self.test[0])} {digest_of(self.test[1])}",
            "selection": self.select and repr(self.select),
            "training": f"{self.settings}, keep {list(self.keep)}, records {self.recorded}",
        }

    def finish(self, folder: CheckpointFolder | None, progress: Progress) -> Records | None:
        """Train until `until`, from the state in `folder` if there is one; return the records."""
        state = folder.state() if folder else None
        if folder and state and not self._has_records(folder, state["step"] // self._per_epoch):
            folder.warn_restart(folder.records.name)
            state = None
        if state:
            self._restore(state)
        elif folder and 0 in self.keep:
            folder.save_weights(0, self.model)
        if not self.recorded:
            self._train(folder, None, progress)
            return None
        recorder = Recorder(
            folder.records if folder else None,
            self.labels.codes,
            self.labels.classes,
            all_classes=self.recorded == "all",
            work=folder.digest if folder else "",
            finished=self.epoch,
        )
        try:
            self._train(folder, recorder, progress)
            return recorder.records()
        finally:
            recorder.close()

    def _has_records(self, folder: CheckpointFolder, epochs: int) -> bool:
        """Whether the records of so many epochs are there and intact, if any are needed."""
        if not self.recorded or not epochs:
            return True
        try:
            records = Records(folder.records)
        except StorageError:
            return False
        return records.work == folder.digest and len(records) >= epochs

    def _train(
        self, folder: CheckpointFolder | None, recorder: Recorder | None, progress: Progress
    ) -> None:
        last = self.until * self._per_epoch
        total = training_cost(
            replace(self.settings, epochs=self.until),
            len(self.inputs),
            n_test=len(self.test[0]) if self.test else 0,
            records=recorder is not None,
        )
        with progress.phase("training", total) as advance:
            if self.step:
                advance(total * min(1.0, self.step / last), before=True, note=self._note())
            saved_at, loss_sum = time.monotonic(), torch.zeros((), device=self.device)
            while self.step < last:
                if self.select and self.step % (self.select.every * self._per_epoch) == 0:
                    self._reselect(self.select)
                loss_sum += self._step()
                advance(_STEP_COST * self.settings.batch_size, note=self._note())
                epoch_ends = self.step % self._per_epoch == 0
                if epoch_ends:
                    self._check_finite(float(loss_sum))
                    self._end_epoch(folder, recorder, advance)
                    loss_sum.zero_()
                if folder and (epoch_ends or time.monotonic() - saved_at > SAVE_INTERVAL):
                    folder.save_state(self._state())
                    saved_at = time.monotonic()

    def _train_on(self, rows: torch.Tensor, weights: torch.Tensor, first_step: int) -> None:
        """Train on these rows from a step on; `weights` has one weight for each of n examples."""
        self._selected, self._weights, self._first_step = rows, weights, first_step
        self._batches = Batches(rows, self.settings.batch_size, self.seed, first_step)

    def _reselect(self, select: Reselection) -> None:
        """Select the examples to train on by the current network; scale weights to mean 1."""
        evaluation = evaluate(self.model, self.inputs, self.labels.codes, self.device)
        subset = select(self.epoch, evaluation, self.labels.codes)
        if len(subset.positions) < 2:
            raise OptionError(
                f"{select} selected {len(subset.positions)} examples. Training needs at least 2: "
                "raise the fraction."
            )
        weights = torch.zeros(len(self.inputs))
        weights[subset.positions] = torch.as_tensor(
            subset.weights / subset.weights.mean(), dtype=torch.float32
        )
        self._train_on(torch.as_tensor(subset.positions, dtype=torch.long), weights, self.step)

    def _step(self) -> torch.Tensor:
        """Do one step; return its loss."""
        torch.manual_seed(derived_seed(self.seed, LAYERS, self.step))
        rows = self._batches[self.step]
        draw = generator(self.seed, AUGMENTATION, self.step) if self.settings.augment else None
        batch = self.inputs.batch(rows, draw, self.settings.shift)
        for group in self._optimiser.param_groups:
            group["lr"] = learning_rate(self.settings, self.step, self.steps)
        self.model.train()
        self._optimiser.zero_grad()
        reduced = self.settings.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=reduced):
            logits = self.model(batch.to(self.device))
        logits = logits.float() if reduced else logits
        codes, weights = (values[rows].to(self.device) for values in (self._codes, self._weights))
        losses = functional.cross_entropy(
            logits, codes, reduction="none", label_smoothing=self.settings.label_smoothing
        )
        loss = (weights * losses).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self.step += 1
        return loss.detach()

    def _end_epoch(
        self, folder: CheckpointFolder | None, recorder: Recorder | None, advance: Advance
    ) -> None:
        """Evaluate, and save the weights of epochs in `keep`."""

        def advance_with_note(amount: float, *, before: bool = False, note: str = "") -> None:
            advance(amount, before=before, note=self._note())

        if recorder:
            recorder.append(
                evaluate(self.model, self.inputs, self.labels.codes, self.device, advance_with_note)
            )
        if self.test:
            correct = evaluate(self.model, *self.test, self.device, advance_with_note).correct
            self.accuracy.append(float(correct.mean()))
        if folder and self.epoch in self.keep:
            folder.save_weights(self.epoch, self.model)

    def _check_finite(self, loss: float) -> None:
        if not np.isfinite(loss):
            raise ConvergenceError(
                f"Training diverged in epoch {self.epoch}: the loss is not finite."
                f" Lower learning_rate={self.settings.learning_rate}."
            )

    def _note(self) -> str:
        epoch = min(self.epoch + 1, self.settings.epochs)
        accuracy = f", {self.accuracy[-1]:.1%} right" if self.accuracy else ""
        return f"epoch {epoch} of {self.settings.epochs}{accuracy}"

    def _state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "accuracy": self.accuracy,
            "model": self.model.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "chosen": (self._selected, self._weights, self._first_step),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self.step, self.accuracy = state["step"], state["accuracy"]
        self.model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._train_on(*state["chosen"])


def _optimiser(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimiser == "adam":
        return torch.optim.Adam(weights, rate, weight_decay=decay)
    return torch.optim.SGD(
        weights, rate, settings.momentum, weight_decay=decay, nesterov=settings.nesterov
    )


def _digest(inputs: Inputs) -> str:
    return f"{digest_of(inputs.values.numpy())} {tuple(inputs.values.shape)} {inputs.scale}"
