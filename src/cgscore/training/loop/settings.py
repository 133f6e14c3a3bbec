"""How a network is trained."""

from __future__ import annotations

from dataclasses import dataclass

from cgscore.errors import OptionError

OPTIMISERS = ("sgd", "adam")
SCHEDULES = ("cosine", "constant", "triangular")
PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class Settings:
    """How a network is trained.

    Attributes
    ----------
    epochs : int
        Passes over all examples. The number of steps does not depend on the subset trained on.
    learning_rate : float
        Largest learning rate of the schedule.
    batch_size : int
        Examples per step.
    optimiser : {"sgd", "adam"}
        ``sgd`` is stochastic gradient descent with momentum.
    momentum : float
        Momentum of ``sgd``.
    nesterov : bool
        Use Nesterov's momentum.
    weight_decay : float
        This multiple of the weights is added to their gradient.
    schedule : {"cosine", "constant", "triangular"}
        ``cosine`` lowers the learning rate to 0 over all steps, without restarts. ``triangular``
        raises it from 0 over the first fifth of all steps, and lowers it to 0 over the rest.
    augment : bool
        Shift and mirror images at random.
    shift : int
        Largest shift in either direction, in pixels; the paper's is 4.
    label_smoothing : float
        Share of the target probability that is spread evenly over all classes.
    precision : {"float32", "bfloat16"}
        ``bfloat16`` multiplies numbers of 16 bits in training steps, as `torch.autocast` does;
        weights and sums stay float32. It is faster on processors with instructions for it
        (AVX512-BF16, AMX), and slower without them.
    """

    epochs: int
    learning_rate: float
    batch_size: int = 128
    optimiser: str = "sgd"
    momentum: float = 0.9
    weight_decay: float = 5e-4
    schedule: str = "cosine"
    augment: bool = True
    nesterov: bool = False
    shift: int = 4
    label_smoothing: float = 0.0
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name, choices in (
            ("optimiser", OPTIMISERS),
            ("schedule", SCHEDULES),
            ("precision", PRECISIONS),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise OptionError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
        for name, minimum in (("epochs", 1), ("batch_size", 2), ("shift", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < minimum:
                raise OptionError(
                    f"{name} must be a whole number, {minimum} or larger; got {value!r}."
                )
        if not 0 < self.learning_rate < float("inf"):
            raise OptionError(f"learning_rate must be larger than 0; got {self.learning_rate!r}.")
        if not 0 <= self.momentum < 1:
            raise OptionError(
                f"momentum must be 0 or larger, and smaller than 1; got {self.momentum!r}."
            )
        if not 0 <= self.label_smoothing < 1:
            raise OptionError(
                f"label_smoothing must be 0 or larger, and smaller than 1; got "
                f"{self.label_smoothing!r}."
            )
        if self.nesterov and not (self.optimiser == "sgd" and self.momentum):
            raise OptionError("nesterov needs the optimiser 'sgd' with a momentum above 0.")
        if not 0 <= self.weight_decay < float("inf"):
            raise OptionError(f"weight_decay must be 0 or larger; got {self.weight_decay!r}.")
