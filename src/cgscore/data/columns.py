"""How the columns of a table become numbers.

=========  ===================================================================================
kind       what becomes of it (``preprocess="table"``)
=========  ===================================================================================
number     standardised to mean 0 and deviation 1; booleans are 0 and 1
date       time passed (a standardised number); and the time of the year, of the week and of the
           day as points on circles, each if the dates span as much
category   one-hot, a column of its own for missing values; with more than `MAX_CATEGORIES`
           values, hashed to `HASHED_COLUMNS` columns
name       nothing, where other columns remain: it names or counts the rows (`identifiers`)
=========  ===================================================================================

Missing numbers and dates become the median, and a column more says where they were missing. At the
end a column of ones is added: without it, scaling rows to unit norm would discard the magnitude of
rows with few columns. Constant columns are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.column_names import list_names as list_names
from cgscore.data.dates import parse_dates
from cgscore.data.identifiers import counts_or_names, left_out_note
from cgscore.data.readers.bounded import refuse_size
from cgscore.errors import DataError
from cgscore.spelling import spelled
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

MAX_CATEGORIES = 1000  # of a column that is encoded one-hot
HASHED_COLUMNS = 256  # for a column with more categories than that
MAX_UNIQUE_SHARE = 0.5  # of the values; a column with more different texts is no category
MISSING_SIGNS = ("", "?", "-", "--", ".", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "none")
_SPANS = {"timedelta64", "timedelta", "time", "period"}
_DATES = {"datetime64", "datetime", "date"}
_CIRCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}  # in days


@dataclass(frozen=True)
class Column:
    """A column that is ready to be encoded.

    Attributes
    ----------
    kind : str
        ``number``, ``date`` or ``category``.
    values : Series
        Its values; texts that are dates or numbers have become those.
    notes : tuple of str
        What was decided on the way.
    reason : str or None
        Why it should be left out, if it should.
    """

    kind: str
    values: pd.Series[Any]
    notes: tuple[str, ...] = ()
    reason: str | None = None


def encode(
    frame: pd.DataFrame, source: str, *, preprocess: bool
) -> tuple[NDArray[Any], str, tuple[str, ...]]:
    """The columns of a frame as numbers, what was done to them, and notes about it.

    Raises
    ------
    DataError
        Infinite numbers, numbers with some text among them; without preprocessing everything that
        is not a number.
    """
    if not frame.shape[1]:
        raise DataError(f"{source} has no columns besides the labels.")
    if not preprocess:
        return _plain(frame, source), "none", ()
    frame = frame.reset_index(drop=True)
    columns = [_prepared(column, source) for _, column in frame.items()]  # names may repeat
    used = [column for column in columns if column.reason is None]
    left_out = [(c.values.name, c.reason) for c in columns if c.reason is not None]
    if not used:  # better than nothing
        used, left_out = columns, []
        for column in used:
            if column.kind == "category":
                _refuse_names(column.values, source)
    by_kind = {
        kind: [column.values for column in used if column.kind == kind]
        for kind in ("number", "date", "category")
    }
    hashed = [column for column in by_kind["category"] if column.nunique() > MAX_CATEGORIES]
    counts = [column.nunique() + 1 for column in by_kind["category"]]
    size = sum(min(count, HASHED_COLUMNS) if count > MAX_CATEGORIES else count for count in counts)
    refuse_size(f"{source}, encoded one-hot,", 8 * len(frame) * size)
    encoded = [
        *_numbers(by_kind["number"], source),
        *(_date(column) for column in by_kind["date"]),
        *(
            (_hashed if column.nunique() > MAX_CATEGORIES else _one_hot)(column)
            for column in by_kind["category"]
        ),
    ]
    names = [column.name for group in by_kind.values() for column in group]
    parts = [_without_constants(part) for part in encoded]
    constant = [name for name, part in zip(names, parts, strict=True) if not part.shape[1]]
    filled = [c.name for c in (*by_kind["number"], *by_kind["date"]) if _has_gaps(c)]
    notes = {
        f"hashed to {HASHED_COLUMNS} columns each because of their many values": [
            c.name for c in hashed
        ],
        "missing values replaced by the median, and marked": filled,
        "constant columns left out": constant,
    }
    preprocessing = f"table: {_varying(by_kind['number'], constant)} columns standardised, "
    preprocessing += f"{_varying(by_kind['category'], constant) - len(hashed)} encoded one-hot"
    preprocessing += f", {_varying(by_kind['date'], constant)} dates" if by_kind["date"] else ""
    preprocessing += f", {len(hashed)} hashed" if hashed else ""
    return (
        np.hstack([*parts, np.ones((len(frame), 1))]),
        f"{preprocessing}, constant added",
        (
            *([left_out_note(left_out)] if left_out else []),
            *(note for column in used for note in column.notes),
            *(f"{text}: {list_names(names)}" for text, names in notes.items() if names),
        ),
    )


def _without_constants(part: Array) -> Array:
    varies = (part != part[:1]).any(axis=0)
    return part if varies.all() else part[:, varies]  # no copy where all columns stay


def _has_gaps(column: pd.Series[Any]) -> bool:
    if column.dtype.kind in "bui" and isinstance(column.dtype, np.dtype):
        return False
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        return bool(np.isnan(column.to_numpy()).any())  # pandas' own way is slow for many columns
    return bool(column.isna().any())


def _varying(columns: list[pd.Series[Any]], constant: list[Any]) -> int:
    left_out = set(constant)
    return sum(column.name not in left_out for column in columns)


def _prepared(column: pd.Series[Any], source: str) -> Column:
    """The kind of a column; texts that are dates or numbers become those."""
    import pandas as pd

    name = column.name
    if pd.api.types.is_complex_dtype(column.dtype):
        raise DataError(f"{source} holds complex numbers. Expected real ones.")
    if pd.api.types.is_numeric_dtype(column.dtype):
        return Column("number", column, reason=counts_or_names(column, number=True))
    seen = column.dropna()
    inferred = pd.api.types.infer_dtype(seen) if len(seen) else "empty"
    if inferred in _DATES or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return Column("date", column)
    if inferred in _SPANS:
        raise DataError(
            f"{source}: column {name!r} holds spans of time. Turn it into numbers or remove it."
        )
    if inferred == "boolean":
        return Column("number", column)
    if any(isinstance(cell, list | tuple | dict | np.ndarray) for cell in seen.head(100)):
        raise DataError(
            f"{source}: column {name!r} holds lists. Give the lists as an array, or the table as "
            f"one of pyarrow with one column of lists; or leave it out: {spelled(drop=name)}"
        )
    dates = parse_dates(column)
    if dates is not None:
        return Column("date", dates.column, dates.notes)
    return _numbers_as_text(column, source) or Column(
        "category", column, reason=counts_or_names(column, number=False)
    )


def _numbers_as_text(column: pd.Series[Any], source: str) -> Column | None:
    """A column whose texts are numbers, or signs for missing ones; None if most are not.

    Raises
    ------
    DataError
        Other texts among numbers: a typing error would make categories of all of them.
    """
    import pandas as pd

    seen = column.dropna()
    words = seen.astype(str).str.strip()
    if words.str.fullmatch(r"[+-]?0\d+").any():  # postal codes and the like
        return None
    values = pd.to_numeric(words, errors="coerce")
    numbers = values.notna().to_numpy()
    if not len(numbers) or numbers.mean() <= 0.5:
        return None
    other = ~numbers & ~words.isin(MISSING_SIGNS).to_numpy()
    if other.any():
        row = int(seen.index[int(np.argmax(other))])
        raise DataError(
            f"{source}: column {column.name!r} holds numbers, but row {row} (counted from 0) has "
            f"{seen.loc[row]!r}. Correct such values, or leave the column out: "
            f"{spelled(drop=column.name)}"
        )
    signs = sorted(set(words[~numbers]))
    note = f"{' '.join(signs)} in {column.name!s} counts as a missing number"
    filled = values.reindex(column.index).astype(np.float64)
    filled.name = column.name
    return Column("number", filled, (note,) if signs else ())


def _refuse_names(column: pd.Series[Any], source: str) -> None:
    """Refuse a column that is no category, where nothing else is left."""
    name, seen = column.name, column.dropna()
    count = seen.astype(str).nunique()
    if count > MAX_CATEGORIES and count > MAX_UNIQUE_SHARE * len(seen):
        raise DataError(
            f"{source}: column {name!r} holds {count:,} different texts, too many for categories, "
            f"and there is no other input. Read it as text: {spelled(text_column=name)}"
        )


def _numbers(columns: list[pd.Series[Any]], source: str) -> list[Array]:
    """Standardised columns, each with one more for missing values if it has any."""
    if not columns:
        return []
    values = np.column_stack([_floats(column) for column in columns])
    for i in np.flatnonzero(np.isinf(values).any(axis=0)):
        refuse_cells(np.isinf(values[:, i : i + 1]), columns[i].to_frame(), source)
    missing = np.isnan(values)
    filled = _filled(values)
    gaps = set(np.flatnonzero(missing.any(axis=0)).tolist())
    return [
        np.column_stack([filled[:, i], _scaled(missing[:, i])])
        if i in gaps
        else filled[:, i : i + 1]
        for i in range(len(columns))
    ]


def _floats(column: pd.Series[Any]) -> Array:
    """Numbers and booleans, NaN where they are missing."""
    if column.dtype.kind in "buif":
        return column.to_numpy(np.float64, na_value=np.nan)
    return np.asarray(column.astype(object).where(column.notna(), np.nan), np.float64)


def _filled(values: Array) -> Array:
    """Columns with the median for what is missing, standardised; `values` are overwritten."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    gaps = np.isnan(values).any(axis=0)
    if gaps.any():  # medians are costly: only of columns that need one
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        values[:, gaps] = imputer.fit_transform(values[:, gaps])
    scaled: Array = StandardScaler(copy=False).fit_transform(values)
    return scaled


def _scaled(values: NDArray[Any]) -> Array:
    return _filled(values.astype(np.float64)[:, None])[:, 0]


def _date(column: pd.Series[Any]) -> Array:
    """Time passed, and where it is in the year, the week and the day."""
    import pandas as pd

    moments = pd.to_datetime(column, utc=True)
    missing = moments.isna().to_numpy()
    if missing.all():
        return np.zeros((len(column), 1))
    epoch = pd.Timestamp("1970-01-01", tz="UTC")
    days = np.array((moments - epoch) / pd.Timedelta(days=1), np.float64)
    days[missing] = np.median(days[~missing])
    parts = [_scaled(days), *([_scaled(missing)] if missing.any() else [])]
    for name, length in _CIRCLES.items():
        # dates without times are all at the same time of day
        if np.ptp(days) >= length and not (name == "day" and np.ptp(days % 1) == 0):
            angle = 2 * np.pi * days / length
            parts += [np.sin(angle), np.cos(angle)]
    return np.column_stack(parts)


def _one_hot(column: pd.Series[Any]) -> Array:
    from sklearn.preprocessing import OneHotEncoder

    words = column.astype(object).where(column.notna(), None)
    texts = np.array([[None if word is None else str(word)] for word in words], dtype=object)
    one_hot: Array = OneHotEncoder(sparse_output=False).fit_transform(texts)
    return one_hot


def _hashed(column: pd.Series[Any]) -> Array:
    from sklearn.feature_extraction import FeatureHasher

    words = column.astype(str).where(column.notna(), "")
    hasher = FeatureHasher(HASHED_COLUMNS, input_type="string")
    hashed: Array = hasher.transform([[word] for word in words]).toarray()
    return hashed


def _plain(frame: pd.DataFrame, source: str) -> NDArray[Any]:
    """Numeric columns as one array."""
    import pandas as pd

    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    text = [name for name, number in zip(frame, numeric, strict=True) if not number]
    if text:
        raise DataError(
            f"{source}: column {text[0]!r} holds text. Expected numbers; to encode columns of text:"
            f" {spelled(preprocess='table')}"
        )
    refuse_cells(frame.isna().to_numpy(), frame, source)
    values = frame.to_numpy()
    if values.dtype.kind not in "buif":
        values = frame.to_numpy(np.float64)
    if values.dtype.kind == "c":
        raise DataError(f"{source} holds complex numbers. Expected real ones.")
    if values.dtype.kind == "f":
        refuse_cells(~np.isfinite(values), frame, source)
    return values


def refuse_cells(wrong: NDArray[np.bool_], frame: pd.DataFrame, source: str) -> None:
    """Name the first of the cells that cannot be used."""
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"{source}: row {row} (counted from 0), column {frame.columns[column]!r} holds "
            f"{frame.iloc[row, column]}, and {int(wrong.sum()) - 1:,} more cells are like it. "
            "Fill or remove such values first."
        )
