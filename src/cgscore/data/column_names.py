"""Names of columns in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cgscore.errors import SourceError


def list_names(names: Iterable[Any], shown: int = 12) -> str:
    """The first names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(map(str, names[:shown])) + more


def columns_in_words(names: Iterable[Any]) -> str:
    """The names of columns, for error messages."""
    return f"Its columns are {list_names(names)}."


def no_column(source: object, name: Any, names: Iterable[Any]) -> SourceError:
    """The error for a column that a table does not have, with the one that may be meant."""
    names = list(names)
    similar = similar_name(name, names)
    hint = "" if similar is None else f" Did you mean {similar!r}?"
    return SourceError(f"{source} has no column {name!r}.{hint} {columns_in_words(names)}")


def similar_name(name: Any, names: Iterable[Any]) -> str | None:
    """The name that differs least: by case and spaces around it, or by a few letters."""
    import difflib

    plain = {str(other).strip().casefold(): str(other) for other in reversed(list(names))}
    close = difflib.get_close_matches(str(name).strip().casefold(), plain, n=1, cutoff=0.7)
    return plain[close[0]] if close else None
