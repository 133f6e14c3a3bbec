"""The SQLite file of decisions: its tables, and what its rows may hold.

Decisions files are sent around, so a file is checked before anything is written to it: it must be a
regular file, its tables must be those below and nothing else (no triggers, no views), and every row
must be one that `cgscore.review.decisions` could have written.
"""

from __future__ import annotations

import math
import os
import stat
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cgscore.errors import StorageError

FORMAT = 1
MAX_REVIEWER_LENGTH = 100
ACTIONS = ("accept", "keep", "change", "skip")
APPLICATION_ID = 0x43475243  # marks an SQLite file as a file of decisions

TABLES = {
    "about": "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "decisions": """CREATE TABLE decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    position INTEGER NOT NULL,
    action TEXT NOT NULL,
    label INTEGER NOT NULL,
    made TEXT NOT NULL
)""",
    "taken_back": "CREATE TABLE taken_back (number INTEGER PRIMARY KEY, made TEXT NOT NULL)",
}
#: In files whose decisions have names: who made each of them.
REVIEWERS = "CREATE TABLE reviewers (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
SCHEMA = {
    **{("table", name): sql for name, sql in TABLES.items()},
    ("table", "reviewers"): REVIEWERS,
    # created by SQLite itself: for AUTOINCREMENT and for the key of `about`
    ("table", "sqlite_sequence"): "CREATE TABLE sqlite_sequence(name,seq)",
    ("index", "sqlite_autoindex_about_1"): None,
}


@dataclass(frozen=True)
class Decision:
    """A decision about an example.

    Attributes
    ----------
    number : int
        Number of the decision, ascending in time.
    position : int
        Position of the example.
    action : str
        ``accept`` the suggested label, ``keep`` the given one, ``change`` to another, or ``skip``.
    label : int or float
        The class that the example has after it, by its code; in a regression the value.
    time : str
        Time of the decision, in UTC.
    reviewer : str or None
        Who made it, where that is known.
    """

    number: int
    position: int
    action: str
    label: float
    time: str
    reviewer: str | None = None


def decision_problem(
    row: tuple[Any, ...], given: NDArray[Any] | None, classes: int | None
) -> str | None:
    """The defect of a row of the table of decisions, or None.

    Parameters
    ----------
    row : tuple
        Number, position, action, label, time.
    given : (n,) array, optional
        The given class or value of every example, if known.
    classes : int, optional
        Number of classes, if known; 0 if labels are values.
    """
    number, position, action, label, time = row
    if number < 1:
        return "has a number below 1"
    examples = None if given is None else len(given)
    limits = [("position", position, examples)]
    if classes:
        limits.append(("label", label, classes))
    for name, value, limit in limits:
        if not isinstance(value, int) or value < 0:
            return f"has the {name} {show(value)}; it must be an integer, 0 or larger"
        if limit is not None and value >= limit:
            return f"has the {name} {value}; it must be below {limit}"
    if not isinstance(label, int | float) or not math.isfinite(label):
        return f"has the label {show(label)}; it must be a number"
    if action not in ACTIONS:
        return f"has the action {show(action)}; it must be one of {', '.join(ACTIONS)}"
    if action in ("keep", "skip") and given is not None and given[position] != label:
        return f"says {action!r} and has another label than the given one"
    if not is_time(time):
        return f"was made at {show(time)}, which is not a time"
    return None


def reviewer_problem(name: object) -> str | None:
    """The defect of the name of a reviewer, or None."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        return f"{show(name)} is not a name in one line"
    if len(name) > MAX_REVIEWER_LENGTH:
        return f"{show(name)} has more than {MAX_REVIEWER_LENGTH} characters"
    return None


def unexpected_object(objects: list[tuple[Any, ...]]) -> str | None:
    """The first table, index, view or trigger of a file that cgscore did not create, or None."""
    for kind, name, _, sql in objects:
        if (kind, name) not in SCHEMA or _normalised(sql) != _normalised(SCHEMA[kind, name]):
            return f"{kind} {show(name)}"
    return None


def file_identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a regular file; None if it does not exist."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} cannot be opened or written: {error}.") from error
    if not stat.S_ISREG(status.st_mode):
        raise StorageError(
            f"{path} is not a regular file. Decisions need one. Choose another name: "
            "--decisions FILE"
        )
    return status.st_dev, status.st_ino


def _normalised(sql: str | None) -> str | None:
    """A statement with its white space normalised."""
    return None if sql is None else " ".join(sql.split())


def show(value: object) -> str:
    """A value as a message shows it."""
    return repr(value)[:60]


def is_time(value: object) -> bool:
    """Whether this is a time with a time zone, as `now` writes it."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def now() -> str:
    """The time, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
