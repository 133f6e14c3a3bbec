"""Scores of any origin in one table, all of them higher for harder examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, LabelError, OptionError
from cgscore.kernel import Array
from cgscore.labels import label_vector
from cgscore.result.scores import Scores
from cgscore.selection.orders import check_selection, select

if TYPE_CHECKING:
    import pandas as pd

#: What each score is multiplied by, so that higher means harder. This is the only place that knows.
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
    "tracin": 1,  # as the paper prunes by it: low influence is regular
    "self_influence": 1,
    "random": 1,
}


def random_score(n: int, seed: int) -> Array:
    """A random order as a score: the baseline."""
    return np.random.default_rng(seed).permutation(n).astype(np.float64)


def score_table(
    given: Scores | ArrayLike, scores: Mapping[str, ArrayLike], *, ids: ArrayLike | None = None
) -> pd.DataFrame:
    """One row per example: ``id``, ``given_label``, and one column per score.

    Parameters
    ----------
    given : Scores or (n,) array
        A result, whose ids, labels, ``cg`` and ``partial`` are taken; or labels.
    scores : mapping of names to (n,) arrays
        Scores as they are defined, under names that `SIGNS` knows; columns are those times the
        sign. Missing values stay missing.
    ids : (n,) array, optional
        Names of the examples; positions by default.

    Returns
    -------
    DataFrame
    """
    import pandas as pd

    table: pd.DataFrame
    if isinstance(given, Scores):
        if ids is not None:
            raise OptionError("A result has ids of its own: leave ids out.")
        table = given.table[["id", "given_label"]].copy()
        columns: dict[str, ArrayLike] = {
            name: given.table[name].to_numpy() for name in ("cg", "partial")
        }
    else:
        labels = label_vector(given, "given")
        names = np.arange(len(labels)) if ids is None else np.asarray(ids)
        if names.shape != labels.shape:
            raise LabelError(f"ids has the shape {names.shape}. Expected {len(labels):,} names.")
        table = pd.DataFrame({"id": names, "given_label": labels})
        columns = {}
    for name, values in {**columns, **scores}.items():
        if name not in SIGNS:
            raise OptionError(f"{name!r} is no score. Choose from: {', '.join(SIGNS)}.")
        found = np.asarray(values, np.float64)
        if found.shape != (len(table),):
            raise DataError(
                f"{name} has the shape {found.shape}. Expected one number for each of the "
                f"{len(table):,} examples."
            )
        table[name] = SIGNS[name] * found
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
    """Positions of the examples to keep by one column of a table, ascending.

    As `Scores.keep`: ``low-first`` keeps the hard, ``high-first`` the easy. A window starts at
    `offset`, 0 by default.
    """
    check_selection(fraction, order, offset, seed)
    if by not in SIGNS or by not in table:
        known = ", ".join(name for name in table.columns if name in SIGNS)
        raise OptionError(f"by={by!r} is no score of the table. Choose one of: {known}.")
    values = table[by].to_numpy()
    if np.isnan(values).any():
        raise OptionError(f"by={by!r} has no value for {np.isnan(values).sum():,} examples.")
    groups = np.zeros(len(table), np.intp)
    if per_class:
        _, groups = np.unique(table["given_label"].to_numpy(), return_inverse=True)
    count = max(1, round(fraction * len(table)))
    return select(values, groups, count, order=order, offset=offset or 0.0, seed=seed)
