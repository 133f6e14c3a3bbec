"""Labels as the user gave them, and as the targets the mathematics needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import LabelError, OptionError, first_five
from cgscore.spelling import for_reader, spelled
from cgscore.typing import Array
from cgscore.valuation import class_targets

TASKS = ("classification", "regression")
AUTO = "auto"  # the task that the labels suggest


@dataclass(frozen=True)
class Labels:
    """Labels of n examples.

    Attributes
    ----------
    values : (n,) array
        The labels as they were given.
    classes : (k,) array
        The distinct labels, sorted; empty for regression.
    codes : (n,) array
        Column of the targets that belongs to each example: its class, or 0 for regression.
    reason : str or None
        Why they are taken for classes or for numbers, if that was inferred from them.
    """

    values: NDArray[Any]
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    reason: str | None = None

    @property
    def task(self) -> str:
        """``classification`` or ``regression``."""
        return "classification" if len(self.classes) else "regression"

    def targets(self) -> Array:
        """Y: (n, k) one-vs-rest targets, or the (n, 1) regression targets."""
        if self.task == "regression":
            return np.asarray(self.values, dtype=np.float64)[:, None]
        return class_targets(self.codes, len(self.classes))

    def keys(self) -> list[Any]:
        """What complexities are called by: the classes, or ``"target"`` for regression."""
        return self.classes.tolist() if len(self.classes) else ["target"]

    def names(self, names: Mapping[Any, str] | None) -> list[str] | None:
        """Classes as users know them, where such names are given."""
        if names is None or self.task == "regression":
            return None
        return [str(names.get(label, label)) for label in self.classes.tolist()]

    def counts(self) -> NDArray[np.intp]:
        """Examples per class."""
        return np.bincount(self.codes, minlength=len(self.classes))


def as_labels(y: ArrayLike, n: int, task: str = AUTO, name: str = "y") -> Labels:
    """Checked labels of n examples.

    Parameters
    ----------
    y : array
        One label per example.
    n : int
        Number of examples.
    task : {"auto", "classification", "regression"}
        Whether labels are classes or numbers; ``auto`` infers it (`infer_task`).
    name : str
        Of the labels, for messages.

    Raises
    ------
    LabelError
        Wrong length or shape, missing labels, or fewer than two classes.
    """
    if task not in (AUTO, *TASKS):
        raise OptionError(f"task must be one of {', '.join((AUTO, *TASKS))}; got {task!r}.")
    values = label_vector(y, name)
    if len(values) != n:
        raise LabelError(
            f"{name} has {len(values):,} labels for {n:,} examples. Expected one each."
        )
    reason = None
    if task == AUTO:
        task, reason = infer_task(values, name)
    if task == "regression":
        numbers = _as_numbers(values, name)
        return Labels(numbers, np.empty(0), np.zeros(n, dtype=np.intp), reason)
    if values.dtype.kind == "f" and (values != np.round(values)).any():
        example = values[values != np.round(values)][0]
        raise LabelError(
            f"{name} holds fractions such as {example}; classes are whole numbers, booleans or "
            f"text. For a continuous target use {spelled(task='regression')}"
        )
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        only = f" ({classes.tolist()[0]!r} everywhere)" if len(classes) else ""
        raise LabelError(
            f"{name} has {len(classes)} class{'' if len(classes) == 1 else 'es'}{only}. Scoring "
            "compares classes with each other and needs at least two."
        )
    return Labels(values, classes, codes.reshape(-1).astype(np.intp), reason)


def label_vector(y: ArrayLike, name: str = "y") -> NDArray[Any]:
    """Labels as a one-dimensional array of one type, none of them missing.

    Raises
    ------
    LabelError
        Another shape, missing or masked labels, or labels of several types.
    """
    if hasattr(y, "to_numpy"):  # pandas, polars, pyarrow
        y = y.to_numpy()
    if isinstance(y, np.ma.MaskedArray):
        raise LabelError(f"{name} is a masked array. Leave the masked rows out, or fill them.")
    # from lists numpy would make texts of numbers and of missing labels alike
    values = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise LabelError(
            f"{name} has the shape {values.shape}. Expected one label per example: (n,)."
        )
    _refuse_missing(values, name)
    if values.dtype.kind == "O":
        values = _narrowed(values, name)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if values.dtype.kind in "UTO":
        try:
            "".join(values.tolist()).encode()
        except UnicodeEncodeError as error:
            raise LabelError(f"{name} holds text that is not Unicode ({error}).") from error
    if values.dtype.kind not in "buifUTO":
        raise LabelError(
            f"{name} holds values of type {values.dtype}. Expected whole numbers, booleans or text."
        )
    return values


def _narrowed(values: NDArray[Any], name: str) -> NDArray[Any]:
    """An array of objects as one of numbers or booleans; texts stay objects."""
    kinds = {type(value) for value in values}
    if all(issubclass(kind, str) for kind in kinds):
        return values
    for family, dtype in (
        ((bool, np.bool_), np.bool_),
        ((int, np.integer), np.int64),
        ((int, float, np.integer, np.floating), np.float64),
    ):
        if all(issubclass(kind, family) for kind in kinds) and not (
            dtype is not np.bool_ and bool in kinds
        ):
            try:
                return values.astype(dtype)
            except OverflowError as error:
                raise LabelError(
                    f"{name} holds whole numbers of more than 64 bits. Give them as text."
                ) from error
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise LabelError(
        f"{name} holds labels of the type{'s' if len(kinds) > 1 else ''} {names}. "
        "Expected whole numbers, booleans or text, and one type for all."
    )


def no_labels() -> LabelError:
    """The error about data without labels."""
    option = for_reader(python="y", command_line="--labels FILE or --label-column NAME")
    return LabelError(f"There are no labels. Give one label per example: {option}")


def _refuse_missing(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind not in "fO":
        return
    import pandas as pd

    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        rows = first_five(missing)
        raise LabelError(
            f"{name} has no label in {len(missing):,} row{'s' if len(missing) > 1 else ''}: {rows} "
            "(counted from 0). Label these rows or leave them out."
        )


def _as_numbers(values: NDArray[Any], name: str) -> Array:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise LabelError(f"{name} holds targets that are not numbers ({error}).") from error
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise LabelError(
            f"{name} has the value {numbers[wrong[0]]} in row {wrong[0]} (counted from 0). Correct "
            "such values or leave the rows out."
        )
    return numbers


MIN_REGRESSION_VALUES = 100  # whole numbers with more distinct values may be quantities,
MIN_DISTINCT_SHARE = 0.1  # if these are more than this share of the examples


def infer_task(y: ArrayLike, name: str = "y", rows: int | None = None) -> tuple[str, str]:
    """The task that labels suggest, ``classification`` or ``regression``, and the reason.

    Numbers with fractions are quantities. So are whole numbers with more than 100 distinct values
    that are more than a tenth of the examples. Everything else names classes: text, booleans,
    digits, ratings, years, codes that come several times each.

    Parameters
    ----------
    y : array
        The labels, or only the distinct ones of so many `rows`.
    name : str
        Of the labels, for messages.

    Raises
    ------
    LabelError
        As `label_vector`.
    """
    values = label_vector(y, name)
    if values.dtype.kind not in "uif":
        kind = "booleans" if values.dtype.kind == "b" else "text"
        return "classification", f"the labels are {kind}"
    if values.dtype.kind == "f" and (values != np.round(values)).any():
        example = values[values != np.round(values)][0]
        return "regression", f"the labels have fractions, such as {example:g}"
    rows = len(values) if rows is None else rows
    distinct = len(np.unique(values))
    reason = f"the labels are whole numbers, {distinct:,} distinct in {rows:,} rows"
    many = distinct > max(MIN_REGRESSION_VALUES, MIN_DISTINCT_SHARE * rows)
    return "regression" if many else "classification", reason
