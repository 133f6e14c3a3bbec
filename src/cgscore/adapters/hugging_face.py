"""Hugging Face datasets: scores and verdicts as new columns.

`cgscore.score` takes datasets and streams of Hugging Face as they are; a stream is gathered first,
since scoring compares each example with every other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cgscore.data.tables import LABEL_COLUMNS
from cgscore.errors import OptionError
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("cg", "margin", "label_score", "is_label_issue", "predicted_label")
OF_NUMBERS = ("cg", "residual", "predicted_label")  # for regression


def with_scores(
    dataset: Any, scores: Scores, columns: Sequence[str] | None = None, *, prefix: str = ""
) -> Any:
    """The dataset with these columns more.

    Parameters
    ----------
    dataset : datasets.Dataset or datasets.IterableDataset
        What was scored, in the same order; labels are compared. A stream stays one, of a single
        shard, so that whatever is done to it afterwards, rows keep their scores.
    scores : Scores
        Its scores.
    columns : sequence of str, optional
        Columns of `Scores.label_issues` and of `Scores.table`; where both have one, as with
        ``predicted_label``, it is that of `label_issues`.
    prefix : str
        Put before their names, where the dataset has columns of these names.
    """
    if not hasattr(dataset, "add_column"):
        raise OptionError(f"A {type(dataset).__name__} takes no columns. Choose one split of it.")
    values = _values(scores, columns, prefix)
    _refuse_taken(dataset.column_names or (), values)
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
                _refuse_taken(row, values)
            if number >= len(given) or (label and row[label] != given[number]):
                raise OptionError(
                    f"Row {number} of the stream is not what was scored: rows or order differ."
                )
            yield {**row, **{name: column[number] for name, column in values.items()}}
        if number + 1 != len(given):
            raise OptionError(f"The stream has {number + 1:,} rows; {len(given):,} were scored.")

    return IterableDataset.from_generator(rows)


def _label(columns: Any, scores: Scores) -> str | None:
    """The column with the labels that were scored, if it is known."""
    options = scores.meta["read_options"]
    if options.get("labels") is not None or scores.meta["source"] == "arrays":
        return None
    wanted = options.get("label_column")
    return next((name for name in (wanted, *LABEL_COLUMNS) if name and name in columns), None)


def _refuse_taken(there: Any, values: dict[str, list[Any]]) -> None:
    taken = [name for name in values if name in there]
    if taken:
        raise OptionError(
            f"The dataset has a column {taken[0]!r} already. Choose a prefix, such as 'cg_'."
        )


def _values(scores: Scores, columns: Sequence[str] | None, prefix: str) -> dict[str, list[Any]]:
    found: pd.DataFrame = scores.table
    if len(scores.classes):
        verdicts = scores.label_issues().reset_index(drop=True)
        found = found.assign(**{str(name): verdicts[name] for name in verdicts})
    columns = columns or (COLUMNS if len(scores.classes) else OF_NUMBERS)
    missing = [name for name in columns if name not in found]
    if missing:
        raise OptionError(f"{missing[0]!r} is not known. Choose from: {', '.join(found.columns)}.")
    return {
        prefix + name: found[name].astype(object).where(found[name].notna(), None).tolist()
        for name in columns
    }
