"""How the values of suspects compare with what is typical of their two classes.

A number is compared with the means of both classes, in standard deviations of its column; a text
with its frequencies in them. The page highlights values that fit one class clearly better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.report.values import short
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

MIN_DEVIATIONS = 0.5  # nearer to one mean than to the other, for a highlight
MIN_FREQUENCY = 0.2  # more frequent in one class than in the other, for a highlight


def column_fits(
    frame: pd.DataFrame, codes: Index, suspects: Index, suggested: Index
) -> tuple[NDArray[np.int8], list[dict[int, str]]]:
    """Which class each value fits better, and what is typical of the classes.

    Parameters
    ----------
    frame : DataFrame
        All examples, in the columns that are shown.
    codes : (n,) array
        The given class of every example.
    suspects, suggested : (m,) arrays
        Positions of the suspects, and the class suggested for each.

    Returns
    -------
    fits : (m, columns) array
        1 where a value fits the suggested class better, -1 the given one, 0 neither.
    typical : list of dict
        For each column: class -> its mean, or its most frequent text.
    """
    fits = np.zeros((len(suspects), frame.shape[1]), np.int8)
    typical: list[dict[int, str]] = []
    shown = np.union1d(codes[suspects], suggested)
    for number in range(frame.shape[1]):
        column = frame.iloc[:, number]
        compare = _compare_numbers if _is_numeric(column) else _compare_texts
        gains, texts = compare(column, codes, suspects, suggested, shown)
        fits[:, number] = gains
        typical.append(texts)
    return fits, typical


def _is_numeric(column: pd.Series[Any]) -> bool:
    import pandas as pd

    kind = column.dtype
    return bool(pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind))


def _compare_numbers(
    column: pd.Series[Any], codes: Index, suspects: Index, suggested: Index, shown: Index
) -> tuple[NDArray[np.int8], dict[int, str]]:
    values = column.to_numpy(np.float64, na_value=np.nan)
    known = np.isfinite(values)
    means = {int(c): values[known & (codes == c)] for c in shown}
    centre = {c: float(members.mean()) for c, members in means.items() if len(members)}
    texts = {c: f"{mean:.4g}" for c, mean in centre.items()}
    deviation = float(values[known].std()) if known.any() else 0.0
    if not deviation > 0:
        return np.zeros(len(suspects), np.int8), texts
    here = values[suspects]
    given_mean = np.array([centre.get(int(c), np.nan) for c in codes[suspects]])
    other_mean = np.array([centre.get(int(c), np.nan) for c in suggested])
    gain = (np.abs(here - given_mean) - np.abs(here - other_mean)) / deviation
    return _signs(np.nan_to_num(gain), MIN_DEVIATIONS), texts


def _compare_texts(
    column: pd.Series[Any], codes: Index, suspects: Index, suggested: Index, shown: Index
) -> tuple[NDArray[np.int8], dict[int, str]]:
    texts = column.astype(str).to_numpy(dtype=object)
    shares: dict[int, dict[str, float]] = {}
    typical = {}
    for c in shown.tolist():
        members = texts[codes == c]
        names, counts = np.unique(members.astype(str), return_counts=True)
        share = counts / max(1, counts.sum())
        shares[c] = dict(zip(names.tolist(), share.tolist(), strict=True))
        if len(names):
            most = int(counts.argmax())
            typical[c] = f"{short(names[most])} ({share[most]:.0%})"
    gain = np.array(
        [
            shares[int(to)].get(str(texts[at]), 0.0) - shares[int(codes[at])].get(str(texts[at]), 0)
            for at, to in zip(suspects, suggested, strict=True)
        ]
    )
    return _signs(gain, MIN_FREQUENCY), typical


def _signs(gain: NDArray[Any], least: float) -> NDArray[np.int8]:
    signs: NDArray[np.int8] = np.where(np.abs(gain) >= least, np.sign(gain), 0).astype(np.int8)
    return signs
