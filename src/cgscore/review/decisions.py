"""What was decided, in a file that only grows.

Every decision is a row of an SQLite table and is on disk before `Decisions.add` returns. Nothing is
changed or removed: taking a decision back is a row as well.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from cgscore.errors import OptionError, ResultError

FORMAT = 1
_MARK = 0x43475243  # by which SQLite files of ours are known

_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    position INTEGER NOT NULL,
    action TEXT NOT NULL,
    label INTEGER NOT NULL,
    made TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS taken_back (number INTEGER PRIMARY KEY, made TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Decision:
    """What was decided of one example.

    Attributes
    ----------
    number : int
        Counts decisions.
    position : int
        Of the example.
    action : str
        accept the suggested label, keep the given one, change to another, or skip.
    label : int
        The class that it leads to.
    made : str
        When, in UTC.
    """

    number: int
    position: int
    action: str
    label: int
    made: str


class Overtaken(Exception):
    """Somebody decided otherwise in the meantime."""

    def __init__(self, decision: Decision | None) -> None:
        super().__init__("decided elsewhere in the meantime")
        self.decision = decision


class Decisions:
    """The decisions about one result.

    Parameters
    ----------
    path : Path
        The file; made if missing.
    fingerprint : str
        Of the data. A file with decisions about others is refused.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            (mark,) = self._connection.execute("PRAGMA application_id").fetchone()
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables and mark != _MARK:
                self.close()
                raise ResultError(f"{path} is a database of something else. Choose another name.")
            self._connection.execute(f"PRAGMA application_id = {_MARK}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_TABLES)
            about = dict(self._connection.execute("SELECT name, value FROM about").fetchall())
        except sqlite3.OperationalError as error:
            raise ResultError(f"{path} cannot be opened or written: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ResultError(f"{path} is not a file of decisions: {error}") from error
        mine = {"format": str(FORMAT), "fingerprint": fingerprint}
        if about and int(about.get("format", "0")) > FORMAT:
            raise ResultError(f"{path} was written by a newer version of cgscore: update it.")
        if about and about.get("fingerprint") != fingerprint:
            self.close()
            raise OptionError(
                f"{path} holds decisions about other data. Say where those about these go: "
                "--decisions FILE"
            )
        self._connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", mine.items())

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def current(self) -> dict[int, Decision]:
        """The last decision about every example, without what was taken back."""
        with self._lock:
            return {decision.position: decision for decision in self._standing()}

    def add(self, position: int, action: str, label: int, known: int | None) -> Decision:
        """Write a decision; on disk when this returns.

        Parameters
        ----------
        known : int or None
            Number of the decision about this example that the decider has seen, None if none.

        Raises
        ------
        Overtaken
            There is another one by now. Nothing is written.
        """
        with self._lock, closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                standing = {one.position: one for one in self._standing()}.get(position)
                if (None if standing is None else standing.number) != known:
                    raise Overtaken(standing)
                made = _now()
                cursor.execute(
                    "INSERT INTO decisions (position, action, label, made) VALUES (?, ?, ?, ?)",
                    (position, action, label, made),
                )
                number = int(cursor.lastrowid or 0)
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")
        return Decision(number, position, action, label, made)

    def take_back(self, number: int) -> Decision:
        """Take a decision back, so that the one before it stands; on disk when this returns.

        Raises
        ------
        Overtaken
            It does not stand any more: there is another one about its example by now.
        """
        with self._lock, closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                standing = {one.position: one for one in self._standing()}
                mine = [one for one in standing.values() if one.number == number]
                if not mine:
                    raise Overtaken(None)
                cursor.execute("INSERT INTO taken_back VALUES (?, ?)", (number, _now()))
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")
        return mine[0]

    def _standing(self) -> list[Decision]:
        rows = self._connection.execute(
            "SELECT number, position, action, label, made FROM decisions "
            "WHERE number NOT IN (SELECT number FROM taken_back) ORDER BY number"
        )
        return [Decision(*row) for row in rows]


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
