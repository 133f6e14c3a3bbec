"""Presets: a network, its training, and the epochs at which scores are taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cgscore.errors import OptionError
from cgscore.training.loop.settings import Settings
from cgscore.training.models import MODELS, Classifier
from cgscore.training.scores.consistency import RATIOS
from cgscore.training.scores.craig import Craig


@dataclass(frozen=True)
class Preset:
    """A network, its training, the number of examples, and the epochs at which scores are taken.

    Attributes
    ----------
    model : str
        A name in `cgscore.training.models.MODELS`.
    settings : Settings
        How the network is trained.
    width : int or None
        Width of the network; None for its default.
    examples : int or None
        Number of training examples the preset is meant for; None for all.
    runs : int
        Trainings over which a score is averaged.
    early : int
        Epoch of EL2N and GraNd.
    tracin_every : int
        Epochs between two checkpoints of TracIn.
    validation : int
        Test examples over which TracIn is averaged.
    feature_epoch : int
        Epoch whose features are scored.
    reselect_every : int
        Epochs between two selections of CRAIG.
    ratios : tuple of float
        Shares of the data on which networks for the C-score are trained.
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
            raise OptionError(f"model must be one of {', '.join(MODELS)}; got {self.model!r}.")
        if not self.ratios or not all(0 < ratio < 1 for ratio in self.ratios):
            raise OptionError(
                f"ratios must be one or more numbers between 0 and 1; got {self.ratios!r}."
            )
        for name in ("early", "tracin_every", "feature_epoch"):
            epoch = getattr(self, name)
            if not 1 <= epoch <= self.settings.epochs:
                raise OptionError(
                    f"{name} must be an epoch of the training, 1 to {self.settings.epochs}; got "
                    f"{epoch!r}."
                )
        for name in ("runs", "validation", "reselect_every", "subsets"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} must be 1 or larger; got {getattr(self, name)!r}.")

    @property
    def tracin_epochs(self) -> tuple[int, ...]:
        """Epochs of TracIn's checkpoints."""
        return tuple(range(self.tracin_every, self.settings.epochs + 1, self.tracin_every))

    def craig(self, fraction: float) -> Craig:
        """CRAIG's selection of a share of the examples, for ``train(..., select=...)``."""
        return Craig(fraction, self.reselect_every)

    def build(self, num_classes: int, *, channels: int = 3, seed: int = 0) -> Classifier:
        """The network with newly drawn weights."""
        build = MODELS[self.model]
        if self.width is None:
            return build(num_classes, channels=channels, seed=seed)
        return build(num_classes, width=self.width, channels=channels, seed=seed)


# The paper's table of training details (appendix on implementation, "Training details").
# DenseNet-BC-100 uses those of CIFAR-10 (appendix on model variants). The epochs of scores, which
# are the defaults of `Preset`, are from the appendices on experimental details, on two more
# baselines (TracIn, CRAIG) and on the feature-space score. Ratios and subsets of the C-score are
# ours: the paper uses published C-scores.
_PAPER = {
    "fashion-mnist": Preset("resnet18", Settings(epochs=100, learning_rate=0.02)),
    "cifar-10": Preset("resnet18", Settings(epochs=200, learning_rate=0.05)),
    "cifar-100": Preset("resnet50", Settings(epochs=200, learning_rate=0.1)),
}

# Minutes on two CPU cores: a tenth of the epochs for Fashion-MNIST, and of everything that is
# counted in epochs.
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

# All examples on two CPU cores: about twenty minutes of one core for a training on CIFAR-10. The
# paper takes EL2N at a tenth of the training. Here that would be during the rise of the learning
# rate, so it is taken at the end of the second of eight epochs.
_FULL = Preset(
    "fast_cnn",
    Settings(
        epochs=8,
        learning_rate=1.0,
        batch_size=500,
        momentum=0.85,
        weight_decay=1e-3,
        schedule="triangular",
        nesterov=True,
        shift=2,
        label_smoothing=0.2,
    ),
    runs=3,
    early=2,
    tracin_every=2,
    feature_epoch=1,
    reselect_every=1,
)

#: Presets by name and dataset.
PRESETS: Mapping[str, Mapping[str, Preset]] = MappingProxyType(
    {
        "paper": _PAPER,
        "full": dict.fromkeys(_PAPER, _FULL),
        "desk": dict.fromkeys(_PAPER, _DESK),
    }
)

#: Fine-tuning of a pretrained Vision Transformer: the paper, appendix on model variants.
FINE_TUNING = Settings(
    epochs=10, learning_rate=1e-5, optimiser="adam", weight_decay=0.0, schedule="constant"
)


def preset(name: str, dataset: str | None = None) -> Preset:
    """The preset of a name for a dataset.

    Parameters
    ----------
    name : {"paper", "full", "desk"}
        ``paper`` has the paper's settings. ``full`` trains a small, fast network on all examples,
        in a quarter of an hour on two CPU cores; ``desk`` takes minutes.
    dataset : {"fashion-mnist", "cifar-10", "cifar-100"}, optional
        May be omitted where a preset is the same for every dataset, as ``full`` and ``desk`` are.
    """
    if name not in PRESETS:
        raise OptionError(f"preset must be one of {', '.join(PRESETS)}; got {name!r}.")
    by_dataset = PRESETS[name]
    if dataset is None and len(set(by_dataset.values())) == 1:
        return next(iter(by_dataset.values()))
    if dataset is None or dataset not in by_dataset:
        raise OptionError(
            f"dataset must be one of {', '.join(by_dataset)} for the preset {name!r}; got "
            f"{dataset!r}."
        )
    return by_dataset[dataset]
