"""Hugging Face datasets: scores and verdicts as new columns.

`cgscore.score` takes datasets and streams of Hugging Face as they are; a stream is gathered first,
since scoring compares each example with every other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cgscore.errors import OptionError
from cgscore.result import Scores

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("cg", "margin", "label_score", "is_label_issue", "predicted_label")


def with_scores(
    dataset: Any, scores: Scores, columns: tuple[str, ...] = COLUMNS, *, prefix: str = ""
) -> Any:
    """The dataset with these columns more.

    Parameters
    ----------
    dataset : datasets.Dataset or datasets.IterableDataset
        What was scored, in the same order. A stream stays one.
    scores : Scores
        Its scores.
    columns : tuple of str
        Columns of `Scores.table` and of `Scores.label_issues`.
    prefix : str
        Put before their names, where the dataset has columns of these names.
    """
    table = _table(scores, columns)
    taken = [prefix + name for name in columns if prefix + name in (dataset.column_names or ())]
    if taken:
        raise OptionError(
            f"The dataset has a column {taken[0]!r} already. Choose a prefix, such as 'cg_'."
        )
    values = {prefix + name: table[name].tolist() for name in columns}
    if not hasattr(dataset, "add_column"):
        raise OptionError(f"A {type(dataset).__name__} takes no columns. Choose one split of it.")
    if hasattr(dataset, "__len__"):
        if len(dataset) != len(scores):
            raise OptionError(
                f"The dataset has {len(dataset):,} rows, and {len(scores):,} were scored."
            )
        for name, column in values.items():
            dataset = dataset.add_column(name, column)
        return dataset

    def scored(example: dict[str, Any], number: int) -> dict[str, Any]:
        if number >= len(scores):
            raise OptionError(f"The stream has more rows than the {len(scores):,} scored ones.")
        return {**example, **{name: column[number] for name, column in values.items()}}

    return dataset.map(scored, with_indices=True)


def _table(scores: Scores, columns: tuple[str, ...]) -> pd.DataFrame:
    found = scores.table
    if any(name not in found for name in columns):
        verdicts = scores.label_issues().reset_index(drop=True)
        found = found.assign(**{name: verdicts[name] for name in verdicts if name not in found})
        if "predicted_label" in columns:  # with the given label considered
            found = found.assign(predicted_label=verdicts["predicted_label"])
    missing = [name for name in columns if name not in found]
    if missing:
        raise OptionError(f"{missing[0]!r} is not known. Choose from: {', '.join(found.columns)}.")
    return found
