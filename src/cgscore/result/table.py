"""The table of scores: built from a valuation, read by the name of a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.duplicates import Groups
from cgscore.errors import OptionError
from cgscore.labels import Labels
from cgscore.typing import Array
from cgscore.valuation import Valuation, margin, missing, predicted

if TYPE_CHECKING:
    import pandas as pd

#: Columns that name examples or classes, even where they hold numbers.
NAMES = ("id", "given_label", "predicted_label", "source", "group")


def score_table(
    result: Valuation,
    labels: Labels,
    ids: NDArray[Any],
    repeats: Groups | None,
    more: Mapping[str, Any],
) -> pd.DataFrame:
    """`Scores.table` from a valuation.

    Parameters
    ----------
    result : Valuation
        Scores and leave-one-out predictions.
    labels : Labels
        The given labels.
    ids : (n,) array
        Names of the examples.
    repeats : Groups, optional
        Groups of identical rows; adds the column ``duplicate_of``.
    more : mapping
        Further columns.

    Returns
    -------
    DataFrame
        One row per example. Where the prediction of any class is missing, so are the predicted
        label and the margin.
    """
    import pandas as pd

    regression = labels.task == "regression"
    unknown = missing(result.loo)
    loo = np.where(unknown[:, None], 0.0, result.loo) if unknown.any() else result.loo
    columns = {
        "id": ids,
        "given_label": labels.values,
        "cg": result.cg,
        "first_term": result.first_term,
        "partial": result.partial,
        "third_term": result.third_term,
        "residual": result.residual,
        "predicted_label": result.loo[:, 0] if regression else labels.classes[predicted(loo)],
        "margin": np.full(len(ids), np.nan) if regression else margin(result.loo, labels.codes),
    }
    table: pd.DataFrame = pd.DataFrame(columns).assign(**more)
    if unknown.any():
        column = table["predicted_label"]
        nullable = column if column.dtype.kind == "f" else column.convert_dtypes()
        table["predicted_label"] = nullable.mask(unknown)
    if repeats is not None:
        first = pd.Series(ids[repeats.first], index=table.index).convert_dtypes()
        table["duplicate_of"] = first.mask(repeats.first == np.arange(len(ids)))
    return table


def numeric_columns(table: pd.DataFrame) -> list[str]:
    """Names of the columns that hold a score."""
    return [str(name) for name in table.select_dtypes("number").columns if name not in NAMES]


def column_values(table: pd.DataFrame, name: str) -> Array:
    """A column of numbers as an array; missing values become nan."""
    column = table[name]
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.to_numpy(np.float64, na_value=np.nan)  # pandas would return objects


def given_values(by: ArrayLike, n: int) -> Array:
    """The numbers that a caller gave, one for each of n examples.

    Raises
    ------
    OptionError
        They are not numbers, or not n of them.
    """
    try:
        values = np.asarray(by, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"by must hold numbers: {error}.") from error
    if values.shape != (n,):
        raise OptionError(
            f"by must hold one number for each of the {n:,} examples; got the shape {values.shape}."
        )
    return values
