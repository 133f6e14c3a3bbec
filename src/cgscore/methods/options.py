"""The options of `cgscore.score`, checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from cgscore.errors import OptionError
from cgscore.execution.machine import parse_bytes
from cgscore.kernel import Kernel, find_kernel
from cgscore.labels import AUTO, TASKS

DTYPES = ("float64", "float32")
DUPLICATES = ("merge", "error")


@dataclass(frozen=True)
class Options:
    """How to score. Every method takes the first six; the others belong to some of them.

    Attributes
    ----------
    ridge : float
        Added to the diagonal of the kernel matrix.
    kernel : Kernel
        The function of the angle between two inputs.
    task : str
        Whether labels are classes or numbers.
    duplicates : str
        Whether identical rows are merged or refused.
    seed : int
        Of everything that is drawn.
    memory_limit : int or None
        Bytes that may be used, or None for what is free.
    dtype, checkpoint, target, device, ratio, runs, landmarks, keep_predictions
        As `cgscore.score` describes them.
    """

    ridge: float
    kernel: Kernel
    task: str = "auto"
    duplicates: str = "merge"
    seed: int = 0
    memory_limit: int | None = None
    dtype: str = "float64"
    checkpoint: Path | None = None
    target: float | None = None
    device: str = "cpu"
    ratio: float = 4.0
    runs: int | None = None
    landmarks: int | None = None
    keep_predictions: bool | None = None

    @classmethod
    def checked(
        cls,
        *,
        ridge: object = 0.0,
        kernel: str = "relu",
        task: str = "auto",
        duplicates: str = "merge",
        seed: object = 0,
        memory_limit: int | float | str | None = None,
        dtype: str = "float64",
        checkpoint: str | os.PathLike[str] | None = None,
        target: float | None = None,
        device: str = "cpu",
        ratio: object = 4,
        runs: object = None,
        landmarks: object = None,
        keep_predictions: bool | None = None,
    ) -> Options:
        """Options from what a user gave; ``ridge="auto"`` is nan until it is chosen.

        Raises
        ------
        OptionError
            A value that does not exist or is out of range.
        """
        check_choice("task", task, (AUTO, *TASKS))
        check_choice("dtype", dtype, DTYPES)
        check_choice("duplicates", duplicates, DUPLICATES)
        return cls(
            ridge=_ridge(ridge),
            kernel=find_kernel(kernel),
            task=task,
            duplicates=duplicates,
            seed=_whole_number("seed", seed, 0),
            memory_limit=None if memory_limit is None else parse_bytes(memory_limit),
            dtype=dtype,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            target=target,
            device=device,
            ratio=_ratio(ratio),
            runs=None if runs is None else _whole_number("runs", runs, 1),
            landmarks=None if landmarks is None else _whole_number("landmarks", landmarks, 1),
            keep_predictions=keep_predictions,
        )

    def changed(self) -> dict[str, Any]:
        """Options that differ from their default, of those that only some methods take."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name in PARTICULAR and getattr(self, field.name) != field.default
        }


#: Options that only some methods take.
PARTICULAR = (
    "dtype",
    "checkpoint",
    "target",
    "device",
    "ratio",
    "runs",
    "landmarks",
    "keep_predictions",
)


def check_choice(name: str, value: object, choices: Mapping[str, Any] | tuple[str, ...]) -> None:
    """Raise `OptionError` unless the value is one of the choices."""
    if value not in tuple(choices):
        raise OptionError(f"{name} must be one of: {', '.join(choices)}; got {value!r}.")


def _ridge(value: object) -> float:
    if value == "auto":
        return float("nan")
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    if not 0 <= number < float("inf"):
        raise OptionError(f"ridge must be 0 or larger, or 'auto'; got {value!r}.")
    return number


def _ratio(value: object) -> float:
    if isinstance(value, bool) or not (isinstance(value, Real) and 0 < float(value) < 1e9):
        raise OptionError(f"ratio must be a positive number; got {value!r}.")
    return float(value)


def _whole_number(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not (isinstance(value, Integral) and int(value) >= least):
        raise OptionError(f"{name} must be a whole number, {least} or larger; got {value!r}.")
    return int(value)  # numpy's are not JSON
