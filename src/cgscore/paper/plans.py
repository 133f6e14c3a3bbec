"""How much of the paper is run: as it is, or on a desk."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cgscore.errors import OptionError
from cgscore.training.presets import Preset, Settings, preset


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
    kept : tuple of float
        Shares of the data that pruning keeps.
    group : int
        Examples of each tenth whose kernel velocity is taken.
    """

    name: str
    seed: int
    runs: int
    subset_runs: int
    examples: int | None
    halved: bool
    repeats: int
    kept: tuple[float, ...]
    group: int

    @classmethod
    def named(cls, name: str, seed: int = 0) -> Plan:
        """The plan ``desk`` or ``paper``."""
        if name not in PLANS:
            raise OptionError(f"preset={name!r} is not known. Choose from: {', '.join(PLANS)}")
        return replace(PLANS[name], seed=seed)

    def scoring(self, dataset: str) -> Preset:
        """The network and its training for scores that need one."""
        if self.name == "paper":
            return preset("paper", dataset)
        return replace(preset("desk"), settings=_SCORING, examples=self.examples)

    def pruning(self, dataset: str) -> Preset:
        """The network and its training on subsets."""
        if self.name == "paper":
            return preset("paper", dataset)
        return replace(preset("desk"), settings=_PRUNING, examples=self.examples, tracin_every=1)

    @property
    def sizes(self) -> str:
        """All that the results of a plan depend on, besides the seed."""
        datasets = ("fashion-mnist", "cifar-10", "cifar-100")
        presets = [(self.scoring(name), self.pruning(name)) for name in datasets]
        return repr((replace(self, seed=0), presets))

    @property
    def told(self) -> str:
        """What a caption says of trainings."""
        if self.name == "paper":
            return "Networks, examples and epochs are the paper's."
        return (
            f"On a desk, not as in the paper: {self.examples:,} examples, images of half the width "
            "and height that are not augmented, a ResNet-18 an eighth as wide; "
            f"{_SCORING.epochs} epochs for scores, {_PRUNING.epochs} for every other training."
        )


_SCORING = Settings(epochs=10, learning_rate=0.1, batch_size=64, augment=False)
_PRUNING = replace(_SCORING, epochs=4)

PLANS = {
    "desk": Plan("desk", 0, 2, 10, 8_000, True, 2, (0.8, 0.6, 0.4, 0.2), 50),
    "paper": Plan(
        "paper", 0, 10, 10, None, False, 5, (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), 125
    ),
}
