"""The steps of a training, and what is done after every epoch."""

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
from cgscore.training.loop.evaluation import evaluate
from cgscore.training.loop.folder import Folder
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.presets import Settings
from cgscore.training.loop.records import Recorder, Records
from cgscore.training.loop.schedule import (
    AUGMENTATION,
    LAYERS,
    Batches,
    derived_seed,
    generator,
    learning_rate,
    steps_of,
    steps_of_epoch,
)
from cgscore.training.scores.reselection import Reselection

OFTEN = 300.0  # seconds after which the state is kept within an epoch

_FORMAT = 2
_BACKWARD = 3  # work of a step, in evaluations of its examples


def work_of(settings: Settings, n: int, *, tested: int = 0, records: bool = True) -> float:
    """The total of the phase that a training reports, for `Progress.whole` around several."""
    steps = steps_of(settings, n) * _BACKWARD * settings.batch_size
    return float(steps + settings.epochs * (tested + (n if records else 0)))


@dataclass
class Run:
    """A training, and how far it is.

    Attributes
    ----------
    model : Module
        Trained in place, on `device`.
    inputs, labels : Inputs, Labels
        All n examples.
    rows : (m,) array
        Those that are trained on, unless they are selected on the way.
    select : Reselection or None
        Chooses those that are trained on, with weights.
    test : (Inputs, array) or None
        Test data with the class of each.
    keep : tuple of int
        Epochs whose weights are kept.
    recorded : str or None
        Probabilities to keep: ``all`` or ``given``; None keeps no records.
    until : int
        The epoch after which to stop; a later run may go on.
    step : int
        Steps that are done.
    accuracy : list of float
        On the test data, after every epoch that is done.
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
        self.steps, self._of_epoch = steps_of(self.settings, n), steps_of_epoch(self.settings, n)
        self._own = torch.as_tensor(self.labels.codes, dtype=torch.long)
        self._take(torch.as_tensor(self.rows, dtype=torch.long), torch.ones(n), since=0)
        self._optimiser = _optimiser(self.model, self.settings)

    @property
    def epoch(self) -> int:
        """Epochs that are done."""
        return self.step // self._of_epoch

    def identity(self) -> dict[str, Any]:
        """Everything that decides the result, but for the machine."""
        weights = xxhash.xxh3_128()
        for name, value in self.model.state_dict().items():
            weights.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
            weights.update(value.cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        trained = [name for name, one in self.model.named_parameters() if one.requires_grad]
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

    def finish(self, folder: Folder | None, progress: Progress) -> Records | None:
        """Train to the end, from where an earlier run was; give the records."""
        state = folder.state() if folder else None
        if folder and state and not self._recorded(folder, state["step"] // self._of_epoch):
            folder.start_again(folder.records.name)
            state = None
        if state:
            self._restore(state)
        elif folder and 0 in self.keep:
            folder.keep_weights(0, self.model)
        if not self.recorded:
            self._train(folder, None, progress)
            return None
        recorder = Recorder(
            folder.records if folder else None,
            self.labels.codes,
            self.labels.classes,
            every=self.recorded == "all",
            work=folder.digest if folder else "",
            done=self.epoch,
        )
        try:
            self._train(folder, recorder, progress)
            return recorder.records()
        finally:
            recorder.close()

    def _recorded(self, folder: Folder, epochs: int) -> bool:
        """Whether the records of so many epochs are there and sound, where any are wanted."""
        if not self.recorded or not epochs:
            return True
        try:
            found = Records(folder.records)
        except StorageError:
            return False
        return found.work == folder.digest and len(found) >= epochs

    def _train(self, folder: Folder | None, recorder: Recorder | None, progress: Progress) -> None:
        tested = len(self.test[0]) if self.test else 0
        last = self.until * self._of_epoch
        total = work_of(
            replace(self.settings, epochs=self.until),
            len(self.inputs),
            tested=tested,
            records=recorder is not None,
        )
        with progress.phase("training", total) as advance:
            if self.step:
                advance(total * min(1.0, self.step / last), before=True, note=self._note())
            kept, losses = time.monotonic(), torch.zeros((), device=self.device)
            while self.step < last:
                if self.select and self.step % (self.select.every * self._of_epoch) == 0:
                    self._reselect(self.select)
                losses += self._step()
                advance(_BACKWARD * self.settings.batch_size, note=self._note())
                over = self.step % self._of_epoch == 0
                if over:
                    self._check(float(losses))
                    self._end_epoch(folder, recorder, advance)
                    losses.zero_()
                if folder and (over or time.monotonic() - kept > OFTEN):
                    folder.keep_state(self._state())
                    kept = time.monotonic()

    def _take(self, rows: torch.Tensor, weights: torch.Tensor, since: int) -> None:
        """Train on these rows from a step on; weights are of all examples."""
        self._chosen, self._weights, self._since = rows, weights, since
        self._batches = Batches(rows, self.settings.batch_size, self.seed, since)

    def _reselect(self, select: Reselection) -> None:
        """Train on what the network as it is makes of all examples; weights have the mean 1."""
        found = evaluate(self.model, self.inputs, self.labels.codes, self.device)
        chosen = select(self.epoch, found, self.labels.codes)
        if len(chosen.positions) < 2:
            raise OptionError(f"{select} chose {len(chosen.positions)} examples. Training needs 2.")
        weights = torch.zeros(len(self.inputs))
        weights[chosen.positions] = torch.as_tensor(
            chosen.weights / chosen.weights.mean(), dtype=torch.float32
        )
        self._take(torch.as_tensor(chosen.positions, dtype=torch.long), weights, self.step)

    def _step(self) -> torch.Tensor:
        """One step; its loss."""
        torch.manual_seed(derived_seed(self.seed, LAYERS, self.step))
        chosen = self._batches[self.step]
        drawn = generator(self.seed, AUGMENTATION, self.step) if self.settings.augment else None
        batch = self.inputs.batch(chosen, drawn)
        for group in self._optimiser.param_groups:
            group["lr"] = learning_rate(self.settings, self.step, self.steps)
        self.model.train()
        self._optimiser.zero_grad()
        found = self.model(batch.to(self.device))
        codes, weights = (one[chosen].to(self.device) for one in (self._own, self._weights))
        loss = (weights * functional.cross_entropy(found, codes, reduction="none")).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self.step += 1
        return loss.detach()

    def _end_epoch(
        self, folder: Folder | None, recorder: Recorder | None, advance: Advance
    ) -> None:
        """Evaluate, and keep the weights if they are asked for."""

        def noted(amount: float, *, before: bool = False, note: str = "") -> None:
            advance(amount, before=before, note=self._note())

        if recorder:
            recorder.append(
                evaluate(self.model, self.inputs, self.labels.codes, self.device, noted)
            )
        if self.test:
            right = evaluate(self.model, *self.test, self.device, noted).correct
            self.accuracy.append(float(right.mean()))
        if folder and self.epoch in self.keep:
            folder.keep_weights(self.epoch, self.model)

    def _check(self, losses: float) -> None:
        if not np.isfinite(losses):
            raise ConvergenceError(
                f"Training diverged in epoch {self.epoch}: the loss is not finite."
                f" Lower learning_rate={self.settings.learning_rate}."
            )

    def _note(self) -> str:
        epoch = min(self.epoch + 1, self.settings.epochs)
        right = f", {self.accuracy[-1]:.1%} right" if self.accuracy else ""
        return f"epoch {epoch} of {self.settings.epochs}{right}"

    def _state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "accuracy": self.accuracy,
            "model": self.model.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "chosen": (self._chosen, self._weights, self._since),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self.step, self.accuracy = state["step"], state["accuracy"]
        self.model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._take(*state["chosen"])


def _optimiser(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimiser == "adam":
        return torch.optim.Adam(weights, rate, weight_decay=decay)
    return torch.optim.SGD(weights, rate, settings.momentum, weight_decay=decay)


def _digest(inputs: Inputs) -> str:
    return f"{digest_of(inputs.values.numpy())} {tuple(inputs.values.shape)} {inputs.scale}"
