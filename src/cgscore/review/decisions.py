"""What was decided, in a file that only grows.

Every decision is a row of an SQLite table and is on disk before `Decisions.add` returns. Nothing is
changed or removed: taking a decision back is a row as well.

Decisions files are sent around, so a file is checked before anything is written to it: it must be a
regular file, its tables must be the ones below and nothing else (no triggers, no views), and every
row must be one that this module could have written.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cgscore.errors import OptionError, StorageError

FORMAT = 1
ACTIONS = ("accept", "keep", "change", "skip")
BUSY_SECONDS = 3.0  # how long to wait for another program that is writing to the file
_APPLICATION_ID = 0x43475243  # marks SQLite files of ours

_TABLES = {
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
_SCHEMA = {
    **{("table", name): sql for name, sql in _TABLES.items()},
    # made by SQLite itself: for AUTOINCREMENT and for the key of `about`
    ("table", "sqlite_sequence"): "CREATE TABLE sqlite_sequence(name,seq)",
    ("index", "sqlite_autoindex_about_1"): None,
}


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


class DecisionsUnavailable(StorageError):
    """The file cannot be used at the moment, or is gone: nothing was acknowledged."""


class Decisions:
    """The decisions about one result.

    Parameters
    ----------
    path : Path
        The file; made if missing.
    fingerprint : str
        Of the data. A file with decisions about others is refused.

    Raises
    ------
    StorageError
        The file is not a file of decisions, is damaged, or cannot be opened or written.
    OptionError
        It holds decisions about other data.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self._fingerprint = fingerprint
        self._lock = threading.Lock()
        self._codes: NDArray[Any] | None = None
        self._classes: int | None = None
        existing = _identity(path)
        # Read-only first: a connection that may write puts the log of an earlier version into the
        # file when it is closed, also if the file is refused. A rollback journal is different. It
        # is what an interrupted commit leaves, and nothing can be read before it is undone.
        if existing is not None and not path.with_name(f"{path.name}-journal").exists():
            self._open("ro")
            with self._refusing():
                self._check()
            self.close()
        self._open("rwc")
        with self._refusing():
            self._check()
            self._prepare()
            # Asked after SQLite has opened (and perhaps made) the file: every later commit must
            # find the same one.
            self._identity = _identity(path)
            if self._identity is None or existing not in (None, self._identity):
                raise StorageError(f"{path} was replaced while it was opened. Start again.")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def expect(self, codes: NDArray[Any], classes: int) -> None:
        """Refuse decisions, now and later, that these examples and classes cannot have.

        Parameters
        ----------
        codes : (n,) integers
            The given class of every example.
        classes : int
            How many classes there are.
        """
        self._codes, self._classes = codes, classes
        self.current()

    def current(self) -> dict[int, Decision]:
        """The last decision about every example, without what was taken back."""
        with self._lock, self._available():
            return self._standing()

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
        DecisionsUnavailable
            The file is gone, was replaced, is locked or cannot be written. Nothing is acknowledged.
        """
        with self._lock, self._transaction():
            standing = self._standing().get(position)
            if (None if standing is None else standing.number) != known:
                raise Overtaken(standing)
            made = _now()
            cursor = self._connection.execute(
                "INSERT INTO decisions (position, action, label, made) VALUES (?, ?, ?, ?)",
                (position, action, label, made),
            )
            number = int(cursor.lastrowid or 0)
        return Decision(number, position, action, label, made)

    def take_back(self, number: int) -> Decision:
        """Take a decision back, so that the one before it stands; on disk when this returns.

        Raises
        ------
        Overtaken
            It does not stand any more: there is another one about its example by now.
        DecisionsUnavailable
            As for `add`.
        """
        with self._lock, self._transaction():
            mine = [one for one in self._standing().values() if one.number == number]
            if not mine:
                raise Overtaken(None)
            self._connection.execute("INSERT INTO taken_back VALUES (?, ?)", (number, _now()))
        return mine[0]

    def _open(self, mode: str) -> None:
        try:
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}",
                timeout=BUSY_SECONDS,
                check_same_thread=False,
                isolation_level=None,
                uri=True,
            )
        except sqlite3.Error as error:
            raise StorageError(f"{self.path} cannot be opened or written: {error}.") from error

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Close a file that is not one of decisions, and say so."""
        try:
            yield
        except sqlite3.OperationalError as error:
            self.close()
            raise StorageError(f"{self.path} cannot be opened or written: {error}.") from error
        except (sqlite3.Error, UnicodeError) as error:
            self.close()
            raise StorageError(f"{self.path} is not a file of decisions: {error}.") from error
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Check all that the file holds."""
        execute = self._connection.execute
        execute("PRAGMA trusted_schema = OFF")
        execute("PRAGMA cell_size_check = ON")
        schema = execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        (application_id,) = execute("PRAGMA application_id").fetchone()
        if schema and application_id != _APPLICATION_ID:
            raise StorageError(
                f"{self.path} is a database of something else. Choose another name: "
                "--decisions FILE"
            )
        for kind, name, _, sql in schema:
            if (kind, name) not in _SCHEMA or _plain(sql) != _plain(_SCHEMA[kind, name]):
                raise StorageError(
                    f"{self.path} is not a file of decisions: it has the {kind} {_short(name)}, "
                    "which cgscore did not write. Choose another file: --decisions FILE"
                )
        (sound,) = execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            raise self._damaged(_short(sound))
        tables = {name for kind, name, *_ in schema if kind == "table"}
        about = self._about() if "about" in tables else {}
        if about:
            self._check_about(about)
        if tables >= set(_TABLES):
            self._standing()

    def _prepare(self) -> None:
        """Complete a file that was checked."""
        execute = self._connection.execute
        # A rollback journal, not a log beside the file: what was acknowledged is in the file
        # itself, whoever copies it or deletes what lies beside it.
        execute("PRAGMA journal_mode = DELETE")
        execute("PRAGMA synchronous = EXTRA")  # also when power fails right after the commit
        execute("BEGIN IMMEDIATE")
        try:
            execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            for sql in _TABLES.values():
                execute(sql.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
            ours = {"format": str(FORMAT), "fingerprint": self._fingerprint}
            self._connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", ours.items())
            self._check_about(self._about())
            self._standing()
            execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    def _about(self) -> dict[Any, Any]:
        """What the file says about itself; a few rows at most."""
        rows = self._connection.execute("SELECT name, value FROM about LIMIT 10").fetchall()
        return dict(rows)

    def _check_about(self, about: dict[Any, Any]) -> None:
        version = about.get("format")
        if not (isinstance(version, str) and version.isascii() and version.isdigit()):
            raise self._damaged(f"its format is {_short(version)}, not a number")
        if len(version) > 9 or int(version) > FORMAT:
            raise StorageError(f"{self.path} was written by a newer version of cgscore: update it.")
        if int(version) < 1:
            raise self._damaged(f"its format is {_short(version)}, and the first is '1'")
        fingerprint = about.get("fingerprint")
        if not isinstance(fingerprint, str):
            raise self._damaged("it does not say which data it is about")
        if fingerprint != self._fingerprint:
            raise OptionError(
                f"{self.path} holds decisions about other data. Say where those about these go: "
                "--decisions FILE"
            )
        if set(about) != {"format", "fingerprint"}:
            raise self._damaged("it says more about itself than format and fingerprint")

    def _standing(self) -> dict[int, Decision]:
        """The last decision about every example; every row of the file is checked."""
        execute = self._connection.execute
        numbers = set()
        for number, made in execute("SELECT number, made FROM taken_back"):
            if not _is_time(made):
                raise self._damaged(
                    f"decision {number} was taken back at {_short(made)}, not a time"
                )
            numbers.add(number)
        standing = {}
        rows = execute(
            "SELECT number, position, action, label, made FROM decisions ORDER BY number"
        )
        for row in rows:
            wrong = self._wrong(*row)
            if wrong is not None:
                raise self._damaged(f"decision {row[0]} {wrong}")
            if row[0] in numbers:
                numbers.remove(row[0])
            else:
                standing[row[1]] = Decision(*row)
        if numbers:
            raise self._damaged(f"decision {min(numbers)} was taken back and never made")
        return standing

    def _wrong(self, number: Any, position: Any, action: Any, label: Any, made: Any) -> str | None:
        """What is wrong with a decision, or None."""
        if number < 1:
            return "has a number below 1"
        examples = None if self._codes is None else len(self._codes)
        for name, value, limit in (
            ("position", position, examples),
            ("label", label, self._classes),
        ):
            if not isinstance(value, int) or value < 0:
                return f"has the {name} {_short(value)}; it must be an integer, 0 or larger"
            if limit is not None and value >= limit:
                return f"has the {name} {value}; it must be below {limit}"
        if action not in ACTIONS:
            return f"has the action {_short(action)}; it must be one of {', '.join(ACTIONS)}"
        if (
            action in ("keep", "skip")
            and self._codes is not None
            and self._codes[position] != label
        ):
            return f"says {action!r} and has another label than the given one"
        if not _is_time(made):
            return f"was made at {_short(made)}, which is not a time"
        return None

    def _damaged(self, what: str) -> StorageError:
        return StorageError(
            f"{self.path} is not a file of decisions that cgscore wrote, or is damaged: {what}. "
            "Use a copy from before, or another file: --decisions FILE"
        )

    @contextmanager
    def _available(self) -> Iterator[None]:
        """Turn what SQLite says into an error that a reader understands."""
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            busy = "locked" in str(error) or "busy" in str(error)
            why = "another program is using it" if busy else "it cannot be used"
            raise DecisionsUnavailable(f"{self.path}: {why} ({error}). Try again.") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is done inside if the path is still this file, before and after."""
        with self._available():
            self._refuse_other_file()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                try:
                    self._check_about(self._about())  # the file may have been written over in place
                except (StorageError, OptionError) as error:
                    raise DecisionsUnavailable(str(error)) from error
                yield
                self._refuse_other_file()
                self._connection.execute("COMMIT")
            except BaseException:
                # also when COMMIT found a lock: the transaction would stay open
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            self._refuse_other_file()

    def _refuse_other_file(self) -> None:
        try:
            now = _identity(self.path)
        except StorageError as error:
            raise DecisionsUnavailable(str(error)) from error
        if now != self._identity:
            what = "was deleted or moved" if now is None else "was replaced by another file"
            raise DecisionsUnavailable(
                f"{self.path} {what} while the review was running: nothing more can be saved. "
                "Export the labels, put the file back or stop the review, and start it again."
            )


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a regular file; None if there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} cannot be opened or written: {error}.") from error
    if not stat.S_ISREG(status.st_mode):
        raise StorageError(
            f"{path} is not a regular file, and decisions are kept in one. Choose another name: "
            "--decisions FILE"
        )
    return status.st_dev, status.st_ino


def _plain(sql: str | None) -> str | None:
    """A statement without differences of white space."""
    return None if sql is None else " ".join(sql.split())


def _short(value: object) -> str:
    """A value of a file as it is shown in a message."""
    return repr(value)[:60]


def _is_time(value: object) -> bool:
    """Whether this is a time as `_now` writes it."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
