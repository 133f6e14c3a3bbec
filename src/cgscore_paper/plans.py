"""How much of the paper is run: as it is, or on a desk."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cgscore.errors import OptionError
from cgscore.training import Preset, Settings, preset


@dataclass(frozen=True)
class Plan:
    """The size of every experiment.

    Attributes
    ----------
    name : str
        ``desk`` or ``paper``.
    seed : int
        Of everything that is drawn.
    runs : int
        Of the estimator on whole datasets.
    subset_runs : int
        Of the estimator on the examples that are trained on.
    examples : int or None
        Examples that are trained on; None is all.
    halved : bool
        Whether networks see images of half the width and height.
    repeats : int
        Trainings for every point of a figure.
    appendix_repeats : int
        The same in the appendices, and beyond the paper.
    kept : tuple of float
        Shares of the data that pruning keeps.
    offsets : tuple of int
        Where windows of half of the data start, in per cent.
    group : int
        Examples of each tenth whose kernel velocity is taken.
    score_training, prune_training : Settings or None
        Trainings of a small network for scores, and on subsets; None is the paper's.
    """

    name: str
    seed: int
    runs: int
    subset_runs: int
    examples: int | None
    halved: bool
    repeats: int
    appendix_repeats: int
    kept: tuple[float, ...]
    offsets: tuple[int, ...]
    group: int
    score_training: Settings | None
    prune_training: Settings | None

    @classmethod
    def named(cls, name: str, seed: int = 0) -> Plan:
        """The plan ``desk`` or ``paper``."""
        if name not in PLANS:
            raise OptionError(f"preset={name!r} is not known. Choose from: {', '.join(PLANS)}")
        return replace(PLANS[name], seed=seed)

    def scoring(self, dataset: str) -> Preset:
        """The network and its training for scores that need one."""
        return self._preset(dataset, self.score_training)

    def pruning(self, dataset: str) -> Preset:
        """The network and its training on subsets."""
        return self._preset(dataset, self.prune_training)

    def _preset(self, dataset: str, settings: Settings | None) -> Preset:
        if settings is None:
            return preset("paper", dataset)
        small, last = preset("desk"), settings.epochs
        return replace(
            small,
            settings=settings,
            examples=self.examples,
            early=min(small.early, last),
            tracin_every=min(small.tracin_every, last),
        )

    @property
    def sizes(self) -> str:
        """All that a cell depends on and does not say itself."""
        datasets = ("fashion-mnist", "cifar-10", "cifar-100")
        presets = [(self.scoring(name), self.pruning(name)) for name in datasets]
        return repr((self.subset_runs, self.examples, self.halved, self.group, presets))

    @property
    def told(self) -> str:
        """What a caption says of trainings."""
        if self.score_training is None or self.prune_training is None:
            return "Networks, examples and epochs are the paper's."
        return (
            f"On a desk, not as in the paper: {self.examples:,} examples, images of half the width "
            "and height that are not augmented, a ResNet-18 an eighth as wide; "
            f"{self.score_training.epochs} epochs for scores, {self.prune_training.epochs} for "
            "every other training."
        )


_SMALL = Settings(epochs=10, learning_rate=0.1, batch_size=64, augment=False)

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
        kept=(0.6, 0.3),
        offsets=tuple(range(0, 51, 5)),
        group=50,
        score_training=_SMALL,
        prune_training=replace(_SMALL, epochs=3),
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
        kept=(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
        offsets=tuple(range(0, 51, 5)),
        group=125,
        score_training=None,
        prune_training=None,
    ),
}
