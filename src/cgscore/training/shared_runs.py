"""Scores from training runs that they share, in one table.

====================  ============================================================
name                  computed from
====================  ============================================================
``el2n``              each run at the epoch ``early`` of the preset
``grand``             each run at ``early``, the gradient of all parameters
``grand_last_layer``  each run at ``early``, the gradient of the last layer
``forgetting``        all epochs of each run
``tracin``            each run at TracIn's checkpoints, and examples of the test data
``self_influence``    each run at TracIn's checkpoints
``feature_cg``        each run at the epoch ``feature_epoch`` of the preset
``c_score``           separate trainings on subsets
``random``            a random permutation: the baseline
====================  ============================================================

Runs are trained no further than the last epoch that a requested score needs.
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
from cgscore.labels import Labels, as_labels
from cgscore.result.scores import Scores
from cgscore.training.loop.evaluation import evaluate
from cgscore.training.loop.inputs import Inputs
from cgscore.training.loop.outputs import Outputs, outputs
from cgscore.training.loop.records import Records
from cgscore.training.loop.run import training_cost
from cgscore.training.loop.schedule import TRAINING, derived_seed, rate_of_epoch
from cgscore.training.loop.trainer import Trained, checked_seed, coded_test_data, train
from cgscore.training.presets import Preset
from cgscore.training.scores.consistency import consistency
from cgscore.training.scores.el2n import el2n
from cgscore.training.scores.feature_space import feature_space_scores
from cgscore.training.scores.forgetting import forgetting
from cgscore.training.scores.grand import grand, grand_last_layer
from cgscore.training.scores.tables import random_score, score_table
from cgscore.training.scores.tracin import self_influence, tracin
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_NAMES = ("el2n", "forgetting", "grand", "tracin", "self_influence")


def scores_by_training(
    X: ArrayLike,
    y: ArrayLike,
    *,
    preset: Preset,
    names: Sequence[str] = DEFAULT_NAMES,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    scores: Scores | None = None,
    runs: int | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Listener | None = None,
    device: str = "cpu",
) -> pd.DataFrame:
    """A table with one row per example and one column per score; higher means harder.

    Parameters
    ----------
    X : (n, h, w), (n, h, w, c) or (n, c, h, w) array
        Images.
    y : (n,) array
        Labels: whole numbers, text or booleans.
    preset : Preset
        The network, its training, and the epochs of scores; for example ``preset("desk")``.
    names : sequence of str
        Names of scores: ``el2n``, ``grand``, ``grand_last_layer``, ``forgetting``, ``tracin``,
        ``self_influence``, ``feature_cg``, ``c_score`` or ``random``.
    X_test, y_test : arrays, optional
        Test data, from which the validation examples of ``tracin`` are drawn.
    scores : Scores, optional
        A result for the same examples; its ids, CG-scores and partial scores are added.
    runs : int, optional
        Number of trainings to average over, instead of the preset's.
    seed : int
        Seed of all trainings. Each has its own, independent of the others.
    checkpoint : path, optional
        A folder from which interrupted trainings resume. Other calls for the same data reuse the
        trainings in it: with more runs or other names, only missing ones are trained. It takes the
        weights of each run at every epoch that a score of the preset needs, and twice the weights
        of each training of the C-score: gigabytes with the presets of the paper.
    progress : bool or function, optional
        As for `cgscore.score`.
    device : str
        Torch device to compute on.

    Returns
    -------
    DataFrame
        As returned by `score_table`.
    """
    unknown = [name for name in names if name not in NAMES]
    if unknown or not len(names):
        raise OptionError(f"names must be one or more of {', '.join(NAMES)}; got {list(names)!r}.")
    names, seed = tuple(dict.fromkeys(names)), checked_seed(seed)
    if runs is not None:
        preset = replace(preset, runs=runs)
    inputs = Inputs(X)
    if not inputs.is_image:
        raise DataError(
            f"X has the shape {tuple(inputs.values.shape)}. Expected images; for rows of numbers "
            "train your own network with cgscore.training.train."
        )
    labels = as_labels(y, len(inputs))
    _check_same_labels(scores, labels)
    validation = coded_test_data(X_test, y_test, inputs, labels)
    if validation:
        validation = _drawn(X_test, inputs, validation[1], preset.validation, seed)
    elif "tracin" in names:
        raise OptionError("tracin needs X_test and y_test. Give them, or omit it from names.")
    listener = reporter(progress)
    trainings = _Trainings(X, inputs, labels, preset, validation, seed, listener, device)
    with _folder(checkpoint) as path, listener.whole(trainings.cost(names)):
        keep = checkpoint is not None
        columns = trainings.run_scores(
            [name for name in names if name in _RUN_SCORES], Path(path), keep
        )
        if "c_score" in names:
            columns["c_score"] = trainings.c_score(Path(path) if keep else None)
    if "random" in names:
        columns["random"] = random_score(len(inputs), seed)
    return score_table(
        labels.values if scores is None else scores, {name: columns[name] for name in names}
    )


@dataclass(frozen=True)
class _Run:
    """A finished run, and the scores computed from it."""

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
        network = self.trained.at(self.preset.early)
        return grand([network], self.inputs, self.codes, device=self.device)

    def grand_last_layer(self) -> Array:
        return grand_last_layer([self.early], self.codes)

    def forgetting(self) -> Array:
        return forgetting(cast(Records, self.trained.records).correct)

    def tracin(self) -> Array:
        inputs, codes = cast(tuple[Inputs, NDArray[np.intp]], self.validation)
        return tracin(
            self._tracin_outputs(self.inputs),
            self.codes,
            self._tracin_outputs(inputs),
            codes,
            self._rates,
        )

    def self_influence(self) -> Array:
        return self_influence(self._tracin_outputs(self.inputs), self.codes, self._rates)

    def feature_cg(self) -> Array:
        epoch = self.preset.feature_epoch
        by_epoch = feature_space_scores(
            self.inputs,
            self.codes,
            {epoch: self.trained.at(epoch)},
            device=self.device,
            progress=False,
        )
        return by_epoch[epoch].table["cg"].to_numpy()

    def _tracin_outputs(self, inputs: Inputs) -> Iterator[Outputs]:
        """Outputs at TracIn's checkpoints."""
        for epoch in self.preset.tracin_epochs:
            yield outputs(self.trained.at(epoch), inputs, device=self.device)

    @cached_property
    def _rates(self) -> list[float]:
        n = len(self.inputs)
        return [
            rate_of_epoch(self.preset.settings, n, epoch) for epoch in self.preset.tracin_epochs
        ]


#: How each score is computed from a run, and the last epoch it needs.
_RUN_SCORES: Mapping[str, tuple[Callable[[_Run], Array], Callable[[Preset], int]]]
_RUN_SCORES = MappingProxyType(
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

NAMES = (*_RUN_SCORES, "c_score", "random")


@dataclass(frozen=True)
class _Trainings:
    """The trainings of one call."""

    X: ArrayLike
    inputs: Inputs
    labels: Labels
    preset: Preset
    validation: tuple[Inputs, NDArray[np.intp]] | None
    seed: int
    progress: Progress
    device: str

    def cost(self, names: Sequence[str]) -> float:
        """Total cost of all trainings, for `Progress.whole`."""
        settings, n = self.preset.settings, len(self.inputs)
        total = 0.0
        if last := self._last_epoch(names):
            total += self.preset.runs * training_cost(replace(settings, epochs=last), n)
        if "c_score" in names:
            trainings = len(self.preset.ratios) * self.preset.subsets
            total += trainings * training_cost(settings, n, records=False)
        return total

    def run_scores(self, names: Sequence[str], folder: Path, keep: bool) -> dict[str, Array]:
        """Means over the runs. Unless `keep`, the weights of a run are removed after use."""
        totals = {name: np.zeros(len(self.inputs)) for name in names}
        for number in range(self.preset.runs if names else 0):
            trained = self._train(
                derived_seed(self.seed, TRAINING, number),
                folder / f"run-{number}",
                keep=sorted(
                    {self.preset.early, self.preset.feature_epoch, *self.preset.tracin_epochs}
                ),
                until=self._last_epoch(names),
                records="given",
            )
            run = _Run(
                trained, self.inputs, self.labels.codes, self.preset, self.validation, self.device
            )
            for name in names:
                totals[name] += _RUN_SCORES[name][0](run) / self.preset.runs
            if not keep:
                shutil.rmtree(folder / f"run-{number}")
        return totals

    def c_score(self, folder: Path | None) -> Array:
        """C-scores by trainings on subsets."""
        place = usable(self.device)

        def correct(rows: NDArray[np.intp], seed: int) -> NDArray[np.bool_]:
            checkpoint = None if folder is None else folder / f"c-score-{seed}"
            trained = self._train(seed, checkpoint, rows=rows, records=False)
            return evaluate(trained.model, self.inputs, self.labels.codes, place).correct

        return consistency(
            correct,
            len(self.inputs),
            ratios=self.preset.ratios,
            runs=self.preset.subsets,
            seed=self.seed,
        ).score

    def _last_epoch(self, names: Sequence[str]) -> int:
        """The last epoch that any of these scores needs; 0 if none needs a run."""
        needed = (_RUN_SCORES[name][1](self.preset) for name in names if name in _RUN_SCORES)
        return max(needed, default=0)

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
    """A random sample of `count` test examples, or all if there are fewer."""
    draw = np.random.default_rng(seed)
    rows = np.sort(draw.choice(len(codes), min(count, len(codes)), replace=False))
    return Inputs(np.asarray(X_test)[rows], scale=inputs.scale), codes[rows]


def _folder(checkpoint: str | os.PathLike[str] | None) -> AbstractContextManager[Any]:
    if checkpoint is not None:
        return nullcontext(checkpoint)
    return TemporaryDirectory(ignore_cleanup_errors=True)  # Windows keeps files that are mapped


def _check_same_labels(scores: Scores | None, labels: Labels) -> None:
    if scores is None:
        return
    given = scores.table["given_label"].to_numpy()
    if given.shape != labels.values.shape or not (given == labels.values).all():
        raise LabelError(
            f"scores has {len(given):,} labels that differ from the {len(labels.values):,} of y. "
            "Expected a result for the same examples in the same order."
        )
