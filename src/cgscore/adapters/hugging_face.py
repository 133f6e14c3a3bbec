"""Hugging Face datasets: scores and verdicts as new columns.

`cgscore.score` takes datasets and streams of Hugging Face as they are. A stream is first read
to its end, since scoring compares each example with every other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cgscore.data.tables import LABEL_COLUMNS
from cgscore.errors import OptionError
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

CLASSIFICATION_COLUMNS = ("cg", "margin", "label_score", "is_label_issue", "predicted_label")
REGRESSION_COLUMNS = ("cg", "residual", "predicted_label")


def with_scores(
    dataset: Any, scores: Scores, columns: Sequence[str] | None = None, *, prefix: str = ""
) -> Any:
    """The dataset with columns of scores added.

    Parameters
    ----------
    dataset : datasets.Dataset or datasets.IterableDataset
        What was scored, in the same order; labels are compared. A stream stays a stream, of a
        single shard, so that rows keep their scores whatever is done to it afterwards.
    scores : Scores
        The scores of this dataset.
    columns : sequence of str, optional
        Columns of `Scores.label_issues` and `Scores.table`. Where both have a column of a name,
        such as ``predicted_label``, the one of `label_issues` is added.
    prefix : str
        Put before the names of the columns, where the dataset has columns of these names.
    """
    if not hasattr(dataset, "add_column"):
        raise OptionError(
            f"dataset must be one split of a dataset; got a {type(dataset).__name__}."
        )
    values = _values(scores, columns, prefix)
    _check_names(dataset.column_names or (), values)
    if not hasattr(dataset, "__len__"):
        return _streamed(dataset, scores, values)
    if len(dataset) != len(scores):
        raise OptionError(
            f"The dataset has {len(dataset):,} rows, and {len(scores):,} were scored."
        )
    label = _label(dataset.column_names, scores)
    if label and list(dataset.with_format(None)[label]) != scores.table["given_label"].tolist():
        raise OptionError(f"The column {label!r} is not what was scored: labels or order differ.")
    for name, column in values.items():
        dataset = dataset.add_column(name, column)
    return dataset


def _streamed(stream: Any, scores: Scores, values: dict[str, list[Any]]) -> Any:
    from datasets import IterableDataset

    source, given = stream.with_format(None), scores.table["given_label"].tolist()

    def rows() -> Iterator[dict[str, Any]]:
        number = -1
        for number, row in enumerate(source):
            label = _label(row, scores)
            if number == 0:
                _check_names(row, values)
            if number >= len(given) or (label and row[label] != given[number]):
                raise OptionError(
                    f"Row {number} of the stream is not what was scored: rows or order differ."
                )
            yield {**row, **{name: column[number] for name, column in values.items()}}
        if number + 1 != len(given):
            raise OptionError(f"The stream has {number + 1:,} rows; {len(given):,} were scored.")

    return IterableDataset.from_generator(rows)


def _label(columns: Any, scores: Scores) -> str | None:
    """The column with the scored labels, if it is known."""
    options = scores.meta["read_options"]
    if options.get("labels") is not None or scores.meta["source"] == "arrays":
        return None
    wanted = options.get("label_column")
    return next((name for name in (wanted, *LABEL_COLUMNS) if name and name in columns), None)


def _check_names(existing: Any, values: dict[str, list[Any]]) -> None:
    taken = [name for name in values if name in existing]
    if taken:
        raise OptionError(
            f"The dataset has a column {taken[0]!r} already. Choose a prefix, such as 'cg_'."
        )


def _values(scores: Scores, columns: Sequence[str] | None, prefix: str) -> dict[str, list[Any]]:
    table: pd.DataFrame = scores.table
    if len(scores.classes):
        verdicts = scores.label_issues().reset_index(drop=True)
        table = table.assign(**{str(name): verdicts[name] for name in verdicts})
    columns = columns or (CLASSIFICATION_COLUMNS if len(scores.classes) else REGRESSION_COLUMNS)
    missing = [name for name in columns if name not in table]
    if missing:
        raise OptionError(f"columns must be among {', '.join(table.columns)}; got {missing[0]!r}.")
    return {
        prefix + name: table[name].astype(object).where(table[name].notna(), None).tolist()
        for name in columns
    }
