"""Which columns of a table tell why labels are suspected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.kernel import Array

if TYPE_CHECKING:
    import pandas as pd

MOST = 6  # columns shown
WIDEST = 2000  # columns looked at

Index = NDArray[np.intp]


def telling_columns(
    frame: pd.DataFrame, codes: Index, suspects: Index, suggested: Index
) -> pd.DataFrame:
    """Rows of the suspects, and the columns in which they fit the suggested class better.

    A number fits a class as far as it is near its mean, in deviations of the column; a text as far
    as it is frequent in it.
    """
    frame = frame.iloc[:, :WIDEST]
    gains = np.array(
        [_gain(frame.iloc[:, i], codes, suspects, suggested) for i in range(frame.shape[1])]
    )
    best = np.argsort(-gains, kind="stable")[:MOST]
    shown: pd.DataFrame = frame.iloc[suspects, best]
    return shown


def _gain(column: pd.Series[Any], codes: Index, suspects: Index, suggested: Index) -> float:
    import pandas as pd

    k = int(max(codes.max(), suggested.max())) + 1
    given = codes[suspects]
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(np.float64)
        deviation = values.std()
        if not deviation > 0:
            return -np.inf
        means = _means(values, codes, k)
        mine = values[suspects]
        away = np.abs(mine - means[given]) - np.abs(mine - means[suggested])
        return float(away.mean() / deviation)
    values = np.asarray(pd.factorize(column.astype(str))[0])
    if values.max() < 1:
        return -np.inf
    frequency = np.zeros((k, int(values.max()) + 1))
    np.add.at(frequency, (codes, values), 1.0)
    frequency /= np.maximum(frequency.sum(axis=1, keepdims=True), 1.0)
    mine = values[suspects]
    return float((frequency[suggested, mine] - frequency[given, mine]).mean())


def _means(values: Array, codes: Index, k: int) -> Array:
    sums = np.bincount(codes, weights=values, minlength=k)
    means: Array = sums / np.maximum(np.bincount(codes, minlength=k), 1)
    return means
