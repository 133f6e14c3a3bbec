"""The columns of a table that best explain why labels are suspected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.typing import Array, Index

if TYPE_CHECKING:
    import pandas as pd

MAX_COLUMNS = 6  # columns shown
MAX_EXAMINED_COLUMNS = 2000


def informative_columns(
    frame: pd.DataFrame, codes: Index, suspects: Index, suggested: Index
) -> pd.DataFrame:
    """The rows of the suspects, in the columns where they fit the suggested class better.

    A number fits a class better the nearer it is to the mean of the class, in standard deviations
    of the column; a text the more frequent it is in the class.

    Parameters
    ----------
    frame : DataFrame
        All examples.
    codes : (n,) array
        The given class of every example.
    suspects, suggested : (m,) arrays
        Positions of the suspects, and the class suggested for each.
    """
    best = informative_positions(frame, codes, suspects, suggested)
    chosen: pd.DataFrame = frame.iloc[suspects, best]
    return chosen


def informative_positions(
    frame: pd.DataFrame, codes: Index, suspects: Index, suggested: Index
) -> Index:
    """The positions of these columns, the best first; parameters as of `informative_columns`."""
    count = min(frame.shape[1], MAX_EXAMINED_COLUMNS)
    gains = np.array([_gain(frame.iloc[:, i], codes, suspects, suggested) for i in range(count)])
    best: Index = np.argsort(-gains, kind="stable")[:MAX_COLUMNS]
    return best


def _gain(column: pd.Series[Any], codes: Index, suspects: Index, suggested: Index) -> float:
    """How much better a column fits the suggested classes than the given ones, on average."""
    import pandas as pd

    k = int(max(codes.max(), suggested.max())) + 1
    given = codes[suspects]
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(np.float64)
        deviation = values.std()
        if not deviation > 0:
            return -np.inf
        means = _means(values, codes, k)
        suspect_values = values[suspects]
        nearer = np.abs(suspect_values - means[given]) - np.abs(suspect_values - means[suggested])
        return float(nearer.mean() / deviation)
    values = np.asarray(pd.factorize(column.astype(str))[0])
    if values.max() < 1:
        return -np.inf
    frequency = np.zeros((k, int(values.max()) + 1))
    np.add.at(frequency, (codes, values), 1.0)
    frequency /= np.maximum(frequency.sum(axis=1, keepdims=True), 1.0)
    suspect_values = values[suspects]
    return float((frequency[suggested, suspect_values] - frequency[given, suspect_values]).mean())


def _means(values: Array, codes: Index, k: int) -> Array:
    """The mean of every class."""
    sums = np.bincount(codes, weights=values, minlength=k)
    means: Array = sums / np.maximum(np.bincount(codes, minlength=k), 1)
    return means
