"""Scores that need training, from as few trainings as they can share, in one table.

====================  ============================================================
name                  from
====================  ============================================================
``el2n``              each run at the early epoch
``grand``             the same, the gradient of all parameters
``grand_last_layer``  the same, the gradient of the last layer
``forgetting``        each run, all epochs
``tracin``            each run at its checkpoints, with examples of the test data
``self_influence``    each run at its checkpoints
``feature_cg``        each run at the epoch of features
``c_score``           trainings of its own, on subsets
``random``            nothing: the baseline
====================  ============================================================

Runs are trained as far as the last epoch that is asked for, and no further.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, LabelError, OptionError
from cgscore.execution.accelerator import usable
from cgscore.execution.cached_property import cached_property
from cgscore.execution.progress import Listener, Progress, reporter
from cgscore.kernel import Array
from cgscore.labels import Labels, as_labels
from cgscore.result.scores import Scores
from cgscore.training.loop.evaluation import evaluate
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.outputs import Outputs, outputs
from cgscore.training.loop.presets import Preset
from cgscore.training.loop.records import Records
from cgscore.training.loop.run import work_of
from cgscore.training.loop.schedule import TRAINING, derived_seed, rate_of_epoch
from cgscore.training.loop.trainer import Trained, checked_seed, labelled_test, train
from cgscore.training.scores.consistency import consistency
from cgscore.training.scores.el2n import el2n
from cgscore.training.scores.feature_space import feature_space_scores
from cgscore.training.scores.forgetting import forgetting
from cgscore.training.scores.grand import grand, grand_last_layer
from cgscore.training.scores.tables import random_score, score_table
from cgscore.training.scores.tracin import self_influence, tracin

if TYPE_CHECKING:
    import pandas as pd

USUAL = ("el2n", "forgetting", "grand", "tracin", "self_influence")


def scores_by_training(
    X: ArrayLike,
    y: ArrayLike,
    *,
    preset: Preset,
    names: Sequence[str] = USUAL,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    scores: Scores | None = None,
    runs: int | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Listener | None = None,
    device: str = "cpu",
) -> pd.DataFrame:
    """One row per example with the scores that were asked for, harder being higher.

    Parameters
    ----------
    X : (n, h, w), (n, h, w, c) or (n, c, h, w) array
        Images.
    y : (n,) array
        Labels: whole numbers, text or booleans.
    preset : Preset
        The network, its training, and when scores are taken: ``preset("desk")`` for example.
    names : sequence of str
        Scores, as in the table at the top of this module.
    X_test, y_test : arrays, optional
        Test data, which ``tracin`` takes its validation examples from.
    scores : Scores, optional
        A result for the same examples, whose ids, CG-scores and partial scores are put beside.
    runs : int, optional
        Trainings to average over, instead of the preset's.
    seed : int
        Of all trainings; each has its own, whatever the others are.
    checkpoint : path, optional
        A folder from which interrupted trainings go on. Another call for the same data finds the
        trainings there: more runs and other names train only what is missing. It takes, for each
        run, the weights at every epoch that some score of the preset needs, and for each training
        of the C-score twice its weights: gigabytes with the presets of the paper.
    progress : bool or function, optional
        As for `cgscore.score`.
    device : str
        Of torch.

    Returns
    -------
    DataFrame
        As `score_table` has it.
    """
    unknown = [name for name in names if name not in NAMES]
    if unknown or not len(names):
        raise OptionError(
            f"names={list(names)!r} are not all known. Choose from: {', '.join(NAMES)}."
        )
    names, seed = tuple(dict.fromkeys(names)), checked_seed(seed)
    if runs is not None:
        preset = replace(preset, runs=runs)
    inputs = Inputs(X)
    if not inputs.is_image:
        raise DataError(
            f"X has the shape {tuple(inputs.values.shape)}. Expected images; for rows of numbers "
            "train a network of your own with cgscore.training.loop.trainer.train."
        )
    labels = as_labels(y, len(inputs))
    _check_beside(scores, labels)
    validation = labelled_test(X_test, y_test, inputs, labels)
    if validation:
        validation = _drawn(X_test, inputs, validation[1], preset.validation, seed)
    elif "tracin" in names:
        raise OptionError("tracin needs X_test and y_test; give them, or leave it out of names.")
    listening = reporter(progress)
    work = _Work(X, inputs, labels, preset, validation, seed, listening, device)
    with _folder(checkpoint) as path, listening.whole(work.total(names)):
        kept = checkpoint is not None
        found = work.of_runs([name for name in names if name in _OF_RUN], Path(path), kept)
        if "c_score" in names:
            found["c_score"] = work.c_score(Path(path) if kept else None)
    if "random" in names:
        found["random"] = random_score(len(inputs), seed)
    values = {name: found[name] for name in names}
    return score_table(labels.values if scores is None else scores, values)


@dataclass(frozen=True)
class _Run:
    """What scores are taken from."""

    trained: Trained
    inputs: Inputs
    codes: NDArray[np.intp]
    preset: Preset
    validation: tuple[Inputs, NDArray[np.intp]] | None
    device: str

    @cached_property
    def early(self) -> Outputs:
        return outputs(self.trained.at(self.preset.early), self.inputs, device=self.device)

    def el2n(self) -> Array:
        return el2n(self.early.probability[None], self.codes)

    def grand(self) -> Array:
        early = self.trained.at(self.preset.early)
        return grand([early], self.inputs, self.codes, device=self.device)

    def grand_last_layer(self) -> Array:
        return grand_last_layer([self.early], self.codes)

    def forgetting(self) -> Array:
        return forgetting(cast(Records, self.trained.records).correct)

    def tracin(self) -> Array:
        others, codes = cast(tuple[Inputs, NDArray[np.intp]], self.validation)
        return tracin(self._along(self.inputs), self.codes, self._along(others), codes, self._rates)

    def self_influence(self) -> Array:
        return self_influence(self._along(self.inputs), self.codes, self._rates)

    def feature_cg(self) -> Array:
        epoch = self.preset.feature_epoch
        found = feature_space_scores(
            self.inputs,
            self.codes,
            {epoch: self.trained.at(epoch)},
            device=self.device,
            progress=False,
        )
        return found[epoch].table["cg"].to_numpy()

    def _along(self, inputs: Inputs) -> Iterator[Outputs]:
        """Outputs at the checkpoints of TracIn."""
        for epoch in self.preset.tracin_epochs:
            yield outputs(self.trained.at(epoch), inputs, device=self.device)

    @cached_property
    def _rates(self) -> list[float]:
        n = len(self.inputs)
        return [
            rate_of_epoch(self.preset.settings, n, epoch) for epoch in self.preset.tracin_epochs
        ]


#: How each score is taken from a run, and the last epoch that it needs.
_OF_RUN: Mapping[str, tuple[Callable[[_Run], Array], Callable[[Preset], int]]] = MappingProxyType(
    {
        "el2n": (_Run.el2n, lambda preset: preset.early),
        "grand": (_Run.grand, lambda preset: preset.early),
        "grand_last_layer": (_Run.grand_last_layer, lambda preset: preset.early),
        "forgetting": (_Run.forgetting, lambda preset: preset.settings.epochs),
        "tracin": (_Run.tracin, lambda preset: preset.tracin_epochs[-1]),
        "self_influence": (_Run.self_influence, lambda preset: preset.tracin_epochs[-1]),
        "feature_cg": (_Run.feature_cg, lambda preset: preset.feature_epoch),
    }
)

NAMES = (*_OF_RUN, "c_score", "random")


@dataclass(frozen=True)
class _Work:
    """The trainings of one call."""

    X: ArrayLike
    inputs: Inputs
    labels: Labels
    preset: Preset
    validation: tuple[Inputs, NDArray[np.intp]] | None
    seed: int
    progress: Progress
    device: str

    def total(self, names: Sequence[str]) -> float:
        """Work of all trainings."""
        settings, n = self.preset.settings, len(self.inputs)
        total = 0.0
        if last := self._last(names):
            total += self.preset.runs * work_of(replace(settings, epochs=last), n)
        if "c_score" in names:
            trainings = len(self.preset.ratios) * self.preset.subsets
            total += trainings * work_of(settings, n, records=False)
        return total

    def of_runs(self, names: Sequence[str], folder: Path, kept: bool) -> dict[str, Array]:
        """Means over the runs; their weights are removed unless they are to be kept."""
        totals = {name: np.zeros(len(self.inputs)) for name in names}
        for number in range(self.preset.runs if names else 0):
            trained = self._train(
                derived_seed(self.seed, TRAINING, number),
                folder / f"run-{number}",
                keep=sorted(
                    {self.preset.early, self.preset.feature_epoch, *self.preset.tracin_epochs}
                ),
                until=self._last(names),
                records="given",
            )
            run = _Run(
                trained, self.inputs, self.labels.codes, self.preset, self.validation, self.device
            )
            for name in names:
                totals[name] += _OF_RUN[name][0](run) / self.preset.runs
            if not kept:
                shutil.rmtree(folder / f"run-{number}")
        return totals

    def c_score(self, folder: Path | None) -> Array:
        """C-scores by trainings on subsets."""
        place = usable(self.device)

        def right(rows: NDArray[np.intp], seed: int) -> NDArray[np.bool_]:
            place_of = None if folder is None else folder / f"c-score-{seed}"
            trained = self._train(seed, place_of, rows=rows, records=False)
            return evaluate(trained.model, self.inputs, self.labels.codes, place).correct

        return consistency(
            right,
            len(self.inputs),
            ratios=self.preset.ratios,
            runs=self.preset.subsets,
            seed=self.seed,
        ).score

    def _last(self, names: Sequence[str]) -> int:
        """The last epoch that a run is needed for; 0 if none is."""
        return max((_OF_RUN[name][1](self.preset) for name in names if name in _OF_RUN), default=0)

    def _train(self, seed: int, folder: Path | None, **options: Any) -> Trained:
        channels = self.inputs.values.shape[1]
        return train(
            self.preset.build(len(self.labels.classes), channels=channels, seed=seed),
            self.X,
            self.labels.values,
            settings=self.preset.settings,
            seed=seed,
            checkpoint=folder,
            progress=self.progress,
            device=self.device,
            **options,
        )


def _drawn(
    X_test: Any, inputs: Inputs, codes: NDArray[np.intp], count: int, seed: int
) -> tuple[Inputs, NDArray[np.intp]]:
    """Some of the test data at random."""
    draw = np.random.default_rng(seed)
    rows = np.sort(draw.choice(len(codes), min(count, len(codes)), replace=False))
    return Inputs(np.asarray(X_test)[rows], scale=inputs.scale), codes[rows]


def _folder(checkpoint: str | os.PathLike[str] | None) -> AbstractContextManager[Any]:
    return TemporaryDirectory() if checkpoint is None else nullcontext(checkpoint)


def _check_beside(scores: Scores | None, labels: Labels) -> None:
    if scores is None:
        return
    given = scores.table["given_label"].to_numpy()
    if given.shape != labels.values.shape or not (given == labels.values).all():
        raise LabelError(
            f"scores has {len(given):,} examples with labels other than y's {len(labels.values):,}."
            " Expected a result for the same examples in the same order."
        )
