"""Presets of the experiments: the paper's own sizes, and two that a desktop computer can do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from cgscore.errors import OptionError
from cgscore.training import Preset, Settings, preset


@dataclass(frozen=True)
class Plan:
    """The size of every experiment.

    Attributes
    ----------
    name : str
        ``desk``, ``full`` or ``paper``.
    seed : int
        Seed of all random numbers.
    runs : int
        Runs of the estimator on whole datasets.
    subset_runs : int
        Runs of the estimator on the training subset.
    examples : int or None
        Size of the training subset; None is the whole dataset.
    halved : bool
        Whether networks see images of half the width and height.
    repeats : int
        Trainings for every point of a figure.
    appendix_repeats : int
        The same in the appendices and for the experiments beyond the paper.
    densenet_repeats : int
        The same for the DenseNet of appendix E.
    kept : tuple of float
        Shares of the data that pruning keeps.
    offsets : tuple of int
        Starts of windows of half of the data, in per cent.
    group : int
        Examples of each tenth whose kernel velocity is measured.
    score_training, prune_training : Settings or None
        Settings of the small network's trainings for scores, and on pruned data. None takes the
        network and settings of the training preset of the same name.
    net : str
        The network of figures that do not name another (`networks.NETWORKS`).
    """

    name: str
    seed: int
    runs: int
    subset_runs: int
    examples: int | None
    halved: bool
    repeats: int
    appendix_repeats: int
    densenet_repeats: int
    kept: tuple[float, ...]
    offsets: tuple[int, ...]
    group: int
    score_training: Settings | None
    prune_training: Settings | None
    net: str = "resnet"

    @classmethod
    def named(cls, name: str, seed: int = 0) -> Plan:
        """The plan of that name, with a seed."""
        if name == SAMPLE.name:
            return replace(SAMPLE, seed=seed)
        if name not in PLANS:
            raise OptionError(f"preset must be one of {', '.join(PLANS)}; got {name!r}.")
        return replace(PLANS[name], seed=seed)

    def scoring(self, dataset: str) -> Preset:
        """The network and settings for scores that need training."""
        return self._preset(dataset, self.score_training)

    def pruning(self, dataset: str) -> Preset:
        """The network and settings for trainings on pruned data."""
        return self._preset(dataset, self.prune_training)

    def _preset(self, dataset: str, settings: Settings | None) -> Preset:
        if settings is None:
            return preset(self.name, dataset)
        small, last = preset("desk"), settings.epochs
        return replace(
            small,
            settings=settings,
            examples=self.examples,
            early=min(small.early, last),
            tracin_every=min(small.tracin_every, last),
        )

    @property
    def background(self) -> bool:
        """Whether cells are computed by `queue` alone, so that figures show what is finished."""
        return self.name == "full"

    @property
    def sizes(self) -> dict[str, Any]:
        """The settings on which the result of a cell of this plan depends, as JSON can write them.

        How many cells there are (runs, repeats, shares) is not among them.
        """
        return {
            "subset_runs": self.subset_runs,
            "examples": self.examples,
            "halved": self.halved,
            "group": self.group,
            "trainings": self.trainings("fashion-mnist", "cifar-10", "cifar-100"),
        }

    def trainings(self, *datasets: str) -> dict[str, dict[str, Any]]:
        """Networks and settings of all trainings on datasets, as JSON can write them."""
        return {
            name: {"scoring": _as_json(self.scoring(name)), "pruning": _as_json(self.pruning(name))}
            for name in datasets
        }

    @property
    def description(self) -> str:
        """What a caption says about trainings."""
        if self.name == "full":
            epochs = self.pruning("cifar-10").settings.epochs
            return (
                f"All examples at their full size; a small convolutional network, {epochs} epochs "
                "(the paper: a ResNet, 100 or 200 epochs)."
            )
        if self.score_training is None or self.prune_training is None:
            return "Networks, examples and epochs are the paper's."
        return (
            f"On a desk, not as in the paper: {self.examples:,} examples, images of half the width "
            "and height that are not augmented, a ResNet-18 an eighth as wide; "
            f"{self.score_training.epochs} epochs for scores, {self.prune_training.epochs} for "
            "every other training."
        )


#: Settings that cells stored before 0.2 did not have: as they were, they are not in a name.
_LATER_SETTINGS = {
    "nesterov": False,
    "shift": 4,
    "label_smoothing": 0.0,
    "precision": "float32",
}


def _as_json(preset: Preset) -> dict[str, Any]:
    values = asdict(preset)
    settings = values["settings"].items()
    values["settings"] = {
        name: value for name, value in settings if _LATER_SETTINGS.get(name, ...) != value
    }
    return values


_DESK_TRAINING = Settings(epochs=10, learning_rate=0.1, batch_size=64, augment=False)

#: Presets that users can choose.
PLANS = {
    "desk": Plan(
        name="desk",
        seed=0,
        runs=2,
        subset_runs=10,
        examples=8_000,
        halved=True,
        repeats=2,
        appendix_repeats=1,
        densenet_repeats=1,
        kept=(0.6, 0.3),
        offsets=tuple(range(0, 51, 5)),
        group=50,
        score_training=_DESK_TRAINING,
        prune_training=replace(_DESK_TRAINING, epochs=3),
    ),
    "full": Plan(
        name="full",
        seed=0,
        runs=3,
        subset_runs=3,
        examples=None,
        halved=False,
        repeats=3,
        appendix_repeats=1,
        densenet_repeats=1,
        kept=(0.8, 0.6, 0.4, 0.2),
        offsets=tuple(range(0, 51, 10)),
        group=125,
        score_training=None,
        prune_training=None,
        net="fast-cnn",
    ),
    "paper": Plan(
        name="paper",
        seed=0,
        runs=10,
        subset_runs=10,
        examples=None,
        halved=False,
        repeats=5,
        appendix_repeats=5,
        densenet_repeats=2,
        kept=(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
        offsets=tuple(range(0, 51, 5)),
        group=125,
        score_training=None,
        prune_training=None,
    ),
}

_SAMPLE_TRAINING = Settings(epochs=2, learning_rate=0.1, batch_size=32, augment=False)

#: For the datasets of `samples`: an item takes seconds, and its numbers mean nothing.
SAMPLE = replace(
    PLANS["desk"],
    name="sample",
    subset_runs=2,
    examples=200,
    offsets=(0, 50),
    group=5,
    score_training=_SAMPLE_TRAINING,
    prune_training=_SAMPLE_TRAINING,
)
