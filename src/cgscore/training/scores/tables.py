"""Scores of different methods in one table, all with higher values for harder examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, LabelError, OptionError
from cgscore.labels import label_vector
from cgscore.result.scores import Scores
from cgscore.selection.orders import check_selection, select
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

#: The factor of each score in a table, so that higher means harder. Defined only here.
SIGNS = {
    "cg": 1,
    "partial": 1,
    "residual": 1,
    "margin": -1,
    "feature_cg": 1,
    "el2n": 1,
    "grand": 1,
    "grand_last_layer": 1,
    "forgetting": 1,
    "c_score": -1,
    "tracin": 1,  # the paper prunes low influence first, as regular
    "self_influence": 1,
    "random": 1,
}


def random_score(n: int, seed: int) -> Array:
    """A random permutation as a score: the baseline."""
    return np.random.default_rng(seed).permutation(n).astype(np.float64)


def score_table(
    given: Scores | ArrayLike, scores: Mapping[str, ArrayLike], *, ids: ArrayLike | None = None
) -> pd.DataFrame:
    """One row per example: ``id``, ``given_label``, and one column per score.

    Parameters
    ----------
    given : Scores or (n,) array
        A result, whose ids, labels, ``cg`` and ``partial`` are copied; or labels.
    scores : mapping of names to (n,) arrays
        Scores as defined by their methods, under the names of `SIGNS`. Columns are these values
        times the sign. Missing values stay missing.
    ids : (n,) array, optional
        Ids of the examples; positions by default.

    Returns
    -------
    DataFrame
    """
    import pandas as pd

    table: pd.DataFrame
    if isinstance(given, Scores):
        if ids is not None:
            raise OptionError(
                "ids was given together with a result, which has its own ids. Omit ids."
            )
        table = given.table[["id", "given_label"]].copy()
        columns: dict[str, ArrayLike] = {
            name: given.table[name].to_numpy() for name in ("cg", "partial")
        }
    else:
        labels = label_vector(given, "given")
        id_values = np.arange(len(labels)) if ids is None else np.asarray(ids)
        if id_values.shape != labels.shape:
            raise LabelError(
                f"ids has the shape {id_values.shape}. Expected one for each of the "
                f"{len(labels):,} labels."
            )
        table = pd.DataFrame({"id": id_values, "given_label": labels})
        columns = {}
    for name, values in {**columns, **scores}.items():
        if name not in SIGNS:
            raise OptionError(f"scores must have names among {', '.join(SIGNS)}; got {name!r}.")
        column = np.asarray(values, np.float64)
        if column.shape != (len(table),):
            raise DataError(
                f"{name} has the shape {column.shape}. Expected one number for each of the "
                f"{len(table):,} examples."
            )
        table[name] = SIGNS[name] * column
    return table


def keep(
    table: pd.DataFrame,
    fraction: float,
    order: str = "low-first",
    per_class: bool = True,
    *,
    by: str,
    offset: float | None = None,
    seed: int = 0,
) -> NDArray[np.intp]:
    """Positions of the examples to keep, by one column of a table; ascending.

    Parameters
    ----------
    table : DataFrame
        A result of `score_table`.
    by : str
        Name of the score.
    fraction, order, per_class, offset, seed
        As for `Scores.keep`: ``low-first`` removes low scores first and keeps hard examples,
        ``high-first`` keeps easy ones. A window starts at `offset`, by default 0.
    """
    check_selection(fraction, order, offset, seed)
    if by not in SIGNS or by not in table:
        names = ", ".join(name for name in table.columns if name in SIGNS)
        raise OptionError(f"by must be a score of the table ({names}); got {by!r}.")
    values = table[by].to_numpy()
    if np.isnan(values).any():
        raise OptionError(
            f"by={by!r} has no value for {np.isnan(values).sum():,} examples. Choose another "
            "score, or remove these examples."
        )
    groups = np.zeros(len(table), np.intp)
    if per_class:
        _, groups = np.unique(table["given_label"].to_numpy(), return_inverse=True)
    count = max(1, round(fraction * len(table)))
    return select(values, groups, count, order=order, offset=offset or 0.0, seed=seed)
