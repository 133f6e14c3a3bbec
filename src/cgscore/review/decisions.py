"""The decisions of a review, in a file to which rows are only added.

Every decision is a row of an SQLite table and is on disk before `Decisions.add` returns. Nothing is
changed or removed: taking a decision back adds a row, too.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cgscore.errors import OptionError, StorageError
from cgscore.review.database import (
    APPLICATION_ID,
    FORMAT,
    REVIEWERS,
    TABLES,
    Decision,
    decision_problem,
    file_identity,
    is_time,
    now,
    reviewer_problem,
    show,
    unexpected_object,
)

BUSY_SECONDS = 3.0  # wait for another program that writes to the file


class Overtaken(Exception):
    """Another decision about the example was made in the meantime."""

    def __init__(self, decision: Decision | None) -> None:
        super().__init__("decided elsewhere in the meantime")
        self.decision = decision


class DecisionsUnavailable(StorageError):
    """The file is missing, locked or cannot be written; nothing was saved."""


class Decisions:
    """The decisions about one result.

    Parameters
    ----------
    path : Path
        The file; created if missing.
    fingerprint : str
        Fingerprint of the data. Decisions about other data are refused.
    reviewer : str, optional
        Name that is saved with every decision.

    Raises
    ------
    StorageError
        The file is not a file of decisions, is damaged, or cannot be opened or written.
    OptionError
        It holds decisions about other data, or the name cannot be one.
    """

    def __init__(self, path: Path, fingerprint: str, *, reviewer: str | None = None) -> None:
        problem = None if reviewer is None else reviewer_problem(reviewer)
        if problem is not None:
            raise OptionError(f"--reviewer: {problem}.")
        self.path, self.reviewer = path, reviewer
        self._fingerprint = fingerprint
        self._lock = threading.Lock()
        self._given: NDArray[Any] | None = None
        self._classes: int | None = None
        existing = file_identity(path)
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
            self._identity = file_identity(path)
            if self._identity is None or existing not in (None, self._identity):
                raise StorageError(f"{path} was replaced while it was opened. Start again.")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def expect(self, given: NDArray[Any], classes: int) -> None:
        """Refuse decisions, now and later, that do not fit these examples and classes.

        Parameters
        ----------
        given : (n,) array
            The given class of every example, or its value in a regression.
        classes : int
            Number of classes; 0 in a regression.
        """
        self._given, self._classes = given, classes
        self.current()

    def current(self) -> dict[int, Decision]:
        """The last decision about every example, without what was taken back."""
        with self._lock, self._available():
            return self._standing()

    def add(self, position: int, action: str, label: float, seen: int | None) -> Decision:
        """Write a decision; on disk when this returns.

        Parameters
        ----------
        seen : int or None
            Number of the decision about this example that was shown to the user; None if there
            was none.

        Raises
        ------
        Overtaken
            There is another decision by now. Nothing is written.
        DecisionsUnavailable
            The file is gone, was replaced, is locked or cannot be written. Nothing is saved.
        """
        return self.add_many([(position, action, label, seen)])[0]

    def add_many(self, decisions: Sequence[tuple[int, str, float, int | None]]) -> list[Decision]:
        """Write several decisions at once, all or none; each is as of `add`."""
        with self._lock, self._transaction():
            standing = self._standing()
            for position, _, _, seen in decisions:
                other = standing.get(position)
                if (None if other is None else other.number) != seen:
                    raise Overtaken(other)
            time = now()
            return [
                self._insert(position, action, label, time, self.reviewer)
                for position, action, label, _ in decisions
            ]

    def add_all(self, choices: Mapping[int, tuple[str, float]]) -> dict[int, Decision | None]:
        """Write many decisions at once, all or none; on disk when this returns.

        Parameters
        ----------
        choices : mapping
            Position -> action and label. An example that has this very decision gets no other.

        Returns
        -------
        dict
            The positions that were decided, each with the decision that stood before, if any.

        Raises
        ------
        DecisionsUnavailable
            As for `add`.
        """
        with self._lock, self._transaction():
            standing, time = self._standing(), now()
            before = {
                position: standing.get(position)
                for position, choice in choices.items()
                if position not in standing
                or (standing[position].action, standing[position].label) != choice
            }
            for position in before:
                self._insert(position, *choices[position], time, self.reviewer)
        return before

    def take_back(self, number: int) -> Decision:
        """Take a decision back, so that the one before it stands; on disk when this returns.

        Raises
        ------
        Overtaken
            There is another decision about its example by now.
        DecisionsUnavailable
            As for `add`.
        """
        return self.take_back_many([number])[0]

    def take_back_many(self, numbers: Sequence[int]) -> list[Decision]:
        """Take several decisions about different examples back at once, all or none."""
        with self._lock, self._transaction():
            standing = {decision.number: decision for decision in self._standing().values()}
            if not set(numbers) <= set(standing):
                raise Overtaken(None)
            time = now()
            self._connection.executemany(
                "INSERT INTO taken_back VALUES (?, ?)", [(number, time) for number in numbers]
            )
        return [standing[number] for number in numbers]

    def join(self, decisions: Sequence[Decision], contested: Collection[int]) -> None:
        """Write decisions of other files, with their times and names, all or none.

        Parameters
        ----------
        decisions : sequence of Decision
            Decisions that are not in this file.
        contested : collection of int
            Examples about which reviewers disagree: all decisions about them are taken back, so
            that they are open again.
        """
        with self._lock, self._transaction():
            self._name_reviewers()
            for decision in decisions:
                self._insert(
                    decision.position,
                    decision.action,
                    decision.label,
                    decision.time,
                    decision.reviewer,
                )
            time = now()
            execute = self._connection.execute
            for position in contested:
                execute(
                    "INSERT INTO taken_back SELECT number, ? FROM decisions WHERE position = ? AND "
                    "number NOT IN (SELECT number FROM taken_back)",
                    (time, position),
                )

    def disagreements(self) -> dict[int, list[Decision]]:
        """Examples that are open because reviewers disagree, with their last decisions.

        These are the examples of which several decisions were taken back at the same time.
        """
        with self._lock, self._available():
            standing = self._standing()
            rows = self._connection.execute(
                "SELECT d.position, t.made, d.number FROM taken_back t JOIN decisions d "
                "ON d.number = t.number ORDER BY d.number"
            ).fetchall()
            every = {decision.number: decision for decision in self._every()}
        together: dict[tuple[int, str], list[Decision]] = {}
        for position, made, number in rows:
            together.setdefault((position, made), []).append(every[number])
        return {
            position: decisions
            for (position, _), decisions in together.items()
            if len(decisions) > 1 and position not in standing
        }

    def every(self) -> list[Decision]:
        """All decisions that were ever made, also those taken back."""
        with self._lock, self._available():
            self._standing()  # checks every row
            return self._every()

    def _insert(
        self, position: int, action: str, label: float, time: str, reviewer: str | None
    ) -> Decision:
        execute = self._connection.execute
        cursor = execute(
            "INSERT INTO decisions (position, action, label, made) VALUES (?, ?, ?, ?)",
            (position, action, label, time),
        )
        number = int(cursor.lastrowid or 0)
        if reviewer is not None:
            execute("INSERT INTO reviewers VALUES (?, ?)", (number, reviewer))
        return Decision(number, position, action, label, time, reviewer)

    def _every(self) -> list[Decision]:
        names = self._reviewer_names()
        rows = self._connection.execute(
            "SELECT number, position, action, label, made FROM decisions ORDER BY number"
        )
        return [_decision(row, names) for row in rows]

    def _reviewer_names(self) -> dict[int, str]:
        """Who made each decision, where names are in the file; they are checked."""
        execute = self._connection.execute
        has_names = execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'reviewers'"
        ).fetchone()[0]
        names = dict(execute("SELECT number, name FROM reviewers")) if has_names else {}
        for number, name in names.items():
            problem = reviewer_problem(name)
            if problem is not None:
                raise self._damaged(f"the reviewer of decision {number}: {problem}")
        return names

    def _name_reviewers(self) -> None:
        """Give the file a table for names, if it has none; versions before 0.3 refuse it then."""
        self._connection.execute(REVIEWERS.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))

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
        if schema and application_id != APPLICATION_ID:
            raise StorageError(
                f"{self.path} is a database of another program. Choose another name: "
                "--decisions FILE"
            )
        unexpected = unexpected_object(schema)
        if unexpected is not None:
            raise StorageError(
                f"{self.path} is not a file of decisions: it has the {unexpected}, which cgscore "
                "did not write. Choose another file: --decisions FILE"
            )
        (sound,) = execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            raise self._damaged(show(sound))
        tables = {name for kind, name, *_ in schema if kind == "table"}
        about = self._about() if "about" in tables else {}
        if about:
            self._check_about(about)
        if tables >= set(TABLES):
            self._standing()

    def _prepare(self) -> None:
        """Complete a file that was checked."""
        execute = self._connection.execute
        # A rollback journal, not a log beside the file: what was saved is in the file itself, even
        # if somebody copies it alone or deletes the files beside it.
        execute("PRAGMA journal_mode = DELETE")
        execute("PRAGMA synchronous = EXTRA")  # also when power fails right after the commit
        execute("BEGIN IMMEDIATE")
        try:
            execute(f"PRAGMA application_id = {APPLICATION_ID}")
            for sql in TABLES.values():
                execute(sql.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
            entries = {"format": str(FORMAT), "fingerprint": self._fingerprint}
            self._connection.executemany(
                "INSERT OR IGNORE INTO about VALUES (?, ?)", entries.items()
            )
            if self.reviewer is not None:
                self._name_reviewers()
            self._check_about(self._about())
            self._standing()
            execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    def _about(self) -> dict[Any, Any]:
        """Format and fingerprint of the file; a few rows at most."""
        rows = self._connection.execute("SELECT name, value FROM about LIMIT 10").fetchall()
        return dict(rows)

    def _check_about(self, about: dict[Any, Any]) -> None:
        version = about.get("format")
        if not (isinstance(version, str) and version.isascii() and version.isdigit()):
            raise self._damaged(f"its format is {show(version)}, not a number")
        if len(version) > 9 or int(version) > FORMAT:
            raise StorageError(f"{self.path} was written by a newer version of cgscore: update it.")
        if int(version) < 1:
            raise self._damaged(f"its format is {show(version)}, and the first is '1'")
        fingerprint = about.get("fingerprint")
        if not isinstance(fingerprint, str):
            raise self._damaged("it has no fingerprint of its data, or one that is not a text")
        if fingerprint != self._fingerprint:
            raise OptionError(
                f"{self.path} holds decisions about other data. Choose another file for these: "
                "--decisions FILE"
            )
        if set(about) != {"format", "fingerprint"}:
            raise self._damaged("it has entries besides format and fingerprint")

    def _standing(self) -> dict[int, Decision]:
        """The last decision about every example; every row of the file is checked."""
        execute = self._connection.execute
        taken_back = set()
        for number, time in execute("SELECT number, made FROM taken_back"):
            if not is_time(time):
                raise self._damaged(f"decision {number} was taken back at {show(time)}, not a time")
            taken_back.add(number)
        standing = {}
        names = self._reviewer_names()
        rows = execute(
            "SELECT number, position, action, label, made FROM decisions ORDER BY number"
        )
        for row in rows:
            problem = decision_problem(row, self._given, self._classes)
            if problem is not None:
                raise self._damaged(f"decision {row[0]} {problem}")
            if row[0] in taken_back:
                taken_back.remove(row[0])
            else:
                standing[row[1]] = _decision(row, names)
            names.pop(row[0], None)
        if names:
            raise self._damaged(f"decision {min(names)} has a reviewer and was never made")
        if taken_back:
            raise self._damaged(f"decision {min(taken_back)} was taken back and never made")
        return standing

    def _damaged(self, problem: str) -> StorageError:
        return StorageError(
            f"{self.path} is not a file of decisions that cgscore wrote, or is damaged: {problem}. "
            "Use an older copy, or another file: --decisions FILE"
        )

    @contextmanager
    def _available(self) -> Iterator[None]:
        """Turn errors of SQLite into `DecisionsUnavailable`."""
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            busy = "locked" in str(error) or "busy" in str(error)
            reason = "another program is using it" if busy else "it cannot be used"
            raise DecisionsUnavailable(f"{self.path}: {reason} ({error}). Try again.") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is done inside, if the path leads to the same file before and after."""
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
                # Also after COMMIT met a lock: the transaction would stay open.
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            self._refuse_other_file()

    def _refuse_other_file(self) -> None:
        try:
            identity = file_identity(self.path)
        except StorageError as error:
            raise DecisionsUnavailable(str(error)) from error
        if identity != self._identity:
            change = "was deleted or moved" if identity is None else "was replaced by another file"
            raise DecisionsUnavailable(
                f"{self.path} {change} while the review was running: nothing more can be saved. "
                "Export the labels, put the file back or stop the review, and start it again."
            )


def _decision(row: tuple[Any, ...], names: Mapping[int, str]) -> Decision:
    """A row of the table of decisions, with the name of its reviewer."""
    number, position, action, label, made = row
    return Decision(number, position, action, label, made, names.get(number))
