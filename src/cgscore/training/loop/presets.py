"""Settings of training: those of the paper, and small ones for a desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cgscore.errors import OptionError
from cgscore.training.models import Classifier, densenet_bc100, resnet18, resnet50
from cgscore.training.scores.consistency import RATIOS
from cgscore.training.scores.reselection import Craig

OPTIMISERS = ("sgd", "adam")
SCHEDULES = ("cosine", "constant")


@dataclass(frozen=True)
class Settings:
    """How a network is trained.

    Attributes
    ----------
    epochs : int
        Passes over all examples; how many steps these are does not depend on the subset.
    learning_rate : float
        At the start.
    batch_size : int
        Examples of a step.
    optimiser : str
        ``sgd``, with momentum, or ``adam``.
    momentum : float
        Of ``sgd``.
    weight_decay : float
        Times the weights, added to the gradient of every one of them.
    schedule : str
        ``cosine``: from the learning rate to 0 over all steps, without restarts; or ``constant``.
    augment : bool
        Shift and mirror images.
    """

    epochs: int
    learning_rate: float
    batch_size: int = 128
    optimiser: str = "sgd"
    momentum: float = 0.9
    weight_decay: float = 5e-4
    schedule: str = "cosine"
    augment: bool = True

    def __post_init__(self) -> None:
        for name, known in (("optimiser", OPTIMISERS), ("schedule", SCHEDULES)):
            value = getattr(self, name)
            if value not in known:
                raise OptionError(f"{name}={value!r} is not known. Choose from: {', '.join(known)}")
        for name, least in (("epochs", 1), ("batch_size", 2)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise OptionError(f"{name}={value!r} makes no sense. Expected {least} or more.")
        if not 0 < self.learning_rate < float("inf"):
            raise OptionError(
                f"learning_rate={self.learning_rate!r} makes no sense. Expected more than 0."
            )
        if not 0 <= self.momentum < 1 or not 0 <= self.weight_decay < float("inf"):
            raise OptionError(
                f"momentum={self.momentum!r} and weight_decay={self.weight_decay!r}: expected a "
                "momentum from 0 to below 1 and a decay from 0 up."
            )


@dataclass(frozen=True)
class Preset:
    """A network, how it is trained, on how many examples, and when scores are taken.

    Attributes
    ----------
    model : str
        ``resnet18``, ``resnet50`` or ``densenet_bc100``.
    settings : Settings
        How it is trained.
    width : int or None
        Of the network; None is its own.
    examples : int or None
        Training examples that are meant to be taken; None is all.
    runs : int
        Trainings that a score is the mean of.
    early : int
        Epoch of EL2N and GraNd.
    tracin_every : int
        TracIn has a checkpoint after every so many epochs.
    validation : int
        Test examples that TracIn averages over.
    feature_epoch : int
        Epoch whose features are scored.
    reselect_every : int
        Epochs after which CRAIG chooses again.
    ratios : tuple of float
        Shares of the data that networks for the C-score are trained on.
    subsets : int
        Trainings for each of these shares.
    """

    model: str
    settings: Settings
    width: int | None = None
    examples: int | None = None
    runs: int = 5
    early: int = 20
    tracin_every: int = 20
    validation: int = 1_000
    feature_epoch: int = 10
    reselect_every: int = 10
    ratios: tuple[float, ...] = RATIOS
    subsets: int = 10

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise OptionError(
                f"model={self.model!r} is not known. Choose from: {', '.join(MODELS)}"
            )
        if not self.ratios or not all(0 < ratio < 1 for ratio in self.ratios):
            raise OptionError(f"ratios={self.ratios!r} make no sense. Expected shares below 1.")
        for name in ("early", "tracin_every", "feature_epoch"):
            epoch = getattr(self, name)
            if not 1 <= epoch <= self.settings.epochs:
                raise OptionError(
                    f"{name}={epoch!r} does not fit a training of {self.settings.epochs} epochs. "
                    "Expected one of them."
                )
        for name in ("runs", "validation", "reselect_every", "subsets"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name}={getattr(self, name)!r} makes no sense. Expected 1 up.")

    @property
    def tracin_epochs(self) -> tuple[int, ...]:
        """Epochs of TracIn's checkpoints."""
        return tuple(range(self.tracin_every, self.settings.epochs + 1, self.tracin_every))

    def craig(self, fraction: float) -> Craig:
        """What trains on a share of the examples by CRAIG: ``train(..., select=this)``."""
        return Craig(fraction, self.reselect_every)

    def build(self, num_classes: int, *, channels: int = 3, seed: int = 0) -> Classifier:
        """The network with new weights."""
        make = MODELS[self.model]
        if self.width is None:
            return make(num_classes, channels=channels, seed=seed)
        return make(num_classes, width=self.width, channels=channels, seed=seed)


MODELS: Mapping[str, Callable[..., Classifier]] = MappingProxyType(
    {"resnet18": resnet18, "resnet50": resnet50, "densenet_bc100": densenet_bc100}
)

# The paper's table of training details (appendix on implementation, "Training details").
# DenseNet-BC-100 has those of CIFAR-10 (appendix on model variants). Scores are taken as by the
# defaults of `Preset`: appendices on experimental details, on two more baselines (TracIn, CRAIG)
# and on the feature-space score. The ratios and subsets of the C-score are not the paper's, which
# takes published ones.
_PAPER = {
    "fashion-mnist": Preset("resnet18", Settings(epochs=100, learning_rate=0.02)),
    "cifar-10": Preset("resnet18", Settings(epochs=200, learning_rate=0.05)),
    "cifar-100": Preset("resnet50", Settings(epochs=200, learning_rate=0.1)),
}

# Minutes on two CPU cores: a tenth of the epochs for Fashion-MNIST, and of all that is counted in
# epochs.
_DESK = Preset(
    "resnet18",
    Settings(epochs=10, learning_rate=0.1),
    width=8,
    examples=5_000,
    runs=2,
    early=2,
    tracin_every=2,
    feature_epoch=1,
    reselect_every=1,
    ratios=(0.25, 0.5, 0.75),
    subsets=5,
)

PRESETS: Mapping[str, Mapping[str, Preset]] = MappingProxyType(
    {"paper": _PAPER, "desk": dict.fromkeys(_PAPER, _DESK)}
)

# A pretrained Vision Transformer: the paper, appendix on model variants.
FINE_TUNING = Settings(
    epochs=10, learning_rate=1e-5, optimiser="adam", weight_decay=0.0, schedule="constant"
)


def preset(name: str, dataset: str | None = None) -> Preset:
    """The preset ``paper`` or ``desk`` for ``fashion-mnist``, ``cifar-10`` or ``cifar-100``.

    ``desk`` is one for all, so that the dataset may be left out.
    """
    if name not in PRESETS:
        raise OptionError(f"preset={name!r} is not known. Choose from: {', '.join(PRESETS)}")
    if dataset is None and name == "desk":
        return _DESK
    if dataset is None or dataset not in PRESETS[name]:
        known = ", ".join(PRESETS[name])
        raise OptionError(f"There is no preset {name!r} for {dataset!r}. Choose from: {known}")
    return PRESETS[name][dataset]
