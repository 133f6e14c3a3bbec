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
    """

    name: str
    seed: int
    runs: int
    subset_runs: int
    examples: int | None
    halved: bool
    repeats: int
    kept: tuple[float, ...]

    @classmethod
    def named(cls, name: str, seed: int = 0) -> Plan:
        """The plan ``desk`` or ``paper``."""
        if name not in PLANS:
            raise OptionError(f"preset={name!r} is not known. Choose from: {', '.join(PLANS)}")
        return replace(PLANS[name], seed=seed)

    def training(self, dataset: str) -> Preset:
        """The network and its training."""
        if self.name == "paper":
            return preset("paper", dataset)
        return replace(preset("desk"), settings=_DESK, examples=self.examples)

    @property
    def told(self) -> str:
        """What a caption says of trainings."""
        if self.name == "paper":
            return "Networks, examples and epochs are the paper's."
        return (
            f"Trained on a desk: {self.examples:,} examples of half the width and height, a "
            f"ResNet-18 an eighth as wide, {_DESK.epochs} epochs, {self.repeats} trainings for "
            "each point."
        )


_DESK = Settings(epochs=8, learning_rate=0.1, batch_size=64)

PLANS = {
    "desk": Plan("desk", 0, 2, 10, 4_000, True, 2, (0.8, 0.6, 0.4, 0.2)),
    "paper": Plan(
        "paper", 0, 10, 10, None, False, 5, (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    ),
}
