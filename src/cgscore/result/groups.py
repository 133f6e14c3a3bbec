"""What groups of examples are worth: a table, and how it is kept in ``Scores.meta``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def group_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of `Factor.group_gaps`, in types that JSON can write."""
    import pandas as pd

    per_class = [name for name in table.columns if name not in ("group", "examples", "gap")]
    gaps = table[per_class].to_numpy().tolist()
    rows = zip(table["group"], table["examples"], table["gap"], gaps, strict=True)
    return [
        {
            "group": None if pd.isna(group) else group.item() if hasattr(group, "item") else group,
            "examples": int(examples),
            "gap": float(gap),
            "by_class": by_class,
        }
        for group, examples, gap, by_class in rows
    ]


def group_table(records: Sequence[dict[str, Any]], classes: Sequence[Any]) -> pd.DataFrame:
    """The table again: ``group``, ``examples``, ``gap`` and ``gap_CLASS`` for every class."""
    import pandas as pd

    names = ("group", "examples", "gap")
    columns: dict[str, Any] = {name: [row[name] for row in records] for name in names}
    if None in columns["group"]:  # which pandas would make a number or a text
        columns["group"] = pd.Series(columns["group"], dtype=object)
    for c, label in enumerate(classes):
        columns[f"gap_{label}"] = [row["by_class"][c] for row in records]
    table: pd.DataFrame = pd.DataFrame(columns)
    return table
