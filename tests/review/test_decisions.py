"""Decisions files that strangers sent, or that went away while they were in use."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cgscore.errors import OptionError, StorageError
from cgscore.review.decisions import Decisions, DecisionsUnavailable, Overtaken

CODES = np.array([0, 1, 2, 0, 1, 2])
TIME = "2024-05-01T12:00:00.000+00:00"

# as the first version wrote it
FIRST_VERSION = """
PRAGMA journal_mode = WAL;
PRAGMA application_id = 0x43475243;
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    position INTEGER NOT NULL,
    action TEXT NOT NULL,
    label INTEGER NOT NULL,
    made TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS taken_back (number INTEGER PRIMARY KEY, made TEXT NOT NULL);
INSERT INTO about VALUES ('format', '1'), ('fingerprint', 'one');
"""


def write(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST_VERSION)
        for statement in statements:
            connection.executescript(statement)


def row(position: object = 1, action: str = "'accept'", label: object = 0, made: str = "") -> str:
    return (
        "INSERT INTO decisions (position, action, label, made) "
        f"VALUES ({position}, {action}, {label}, {made or repr(TIME)});"
    )


def read(path: Path) -> dict[int, str]:
    with contextlib.closing(Decisions(path, "one")) as decisions:
        decisions.expect(CODES, 3)
        return {at: decision.action for at, decision in decisions.current().items()}


def test_files_of_the_first_version_open(tmp_path: Path) -> None:
    path = tmp_path / "d"
    back = f"INSERT INTO taken_back VALUES (1, '{TIME}');"
    write(path, row(1), row(1, "'keep'", 1), row(5, "'skip'", 2), row(0, "'change'", 2), back)
    assert read(path) == {1: "keep", 5: "skip", 0: "change"}
    assert not list(tmp_path.glob("d-*"))  # all of it is in the file itself


def test_an_interrupted_start_is_completed(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            FIRST_VERSION[: FIRST_VERSION.index("CREATE TABLE IF NOT EXISTS d")]
        )
    assert read(path) == {}
    (tmp_path / "empty").touch()
    assert read(tmp_path / "empty") == {}


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (row(-1), "position -1"),
        (row(6), "position 6; it must be below 6"),
        (row("'1; DROP'"), "position '1; DROP'"),
        (row(1.5), "position 1.5"),
        (row("x'00'"), "position b"),
        (row(label=-1), "label -1"),
        (row(label=3), "label 3; it must be below 3"),
        (row(action="'delete'"), "action 'delete'"),
        (row(action="'keep'", label=0), "another label"),
        (row(made="'=HYPERLINK(1)'"), "not a time"),
        (row(made="42"), "not a time"),
        (row(made="CAST(x'ff' AS TEXT)"), "decode"),
        (row(action=f"'{'a' * 10_000}'"), "action 'aaa"),
        (row() + "UPDATE decisions SET number = -5;", "number below 1"),
        (f"INSERT INTO taken_back VALUES (7, '{TIME}');", "taken back and never made"),
        (row() + "INSERT INTO taken_back VALUES (1, 'never');", "not a time"),
        ("UPDATE about SET value = '2' WHERE name = 'format';", "newer version"),
        (f"UPDATE about SET value = '{'9' * 5000}' WHERE name = 'format';", "newer version"),
        ("UPDATE about SET value = 'x' WHERE name = 'format';", "format is 'x'"),
        ("UPDATE about SET value = '0' WHERE name = 'format';", "format is '0'"),
        ("DELETE FROM about WHERE name = 'format';", "format is None"),
        ("DELETE FROM about WHERE name = 'fingerprint';", "no fingerprint of its data"),
        (
            "UPDATE about SET value = x'00' WHERE name = 'fingerprint';",
            "no fingerprint of its data",
        ),
        ("INSERT INTO about VALUES ('more', 'x');", "entries besides format"),
        ("CREATE TABLE theirs (a);", "table 'theirs'"),
        ("CREATE INDEX theirs ON decisions (label);", "index 'theirs'"),
        ("CREATE VIEW theirs AS SELECT 1;", "view 'theirs'"),
        (
            "CREATE TRIGGER theirs AFTER INSERT ON decisions BEGIN DELETE FROM decisions; END;",
            "trigger 'theirs'",
        ),
        ("ALTER TABLE decisions ADD COLUMN more TEXT;", "table 'decisions'"),
        (
            "DROP TABLE taken_back; CREATE VIEW taken_back AS SELECT 1 AS number, '' AS made;",
            "view 'taken_back'",
        ),
    ],
)
def test_refused_by_name(tmp_path: Path, statement: str, what: str) -> None:
    path = tmp_path / "theirs.review"
    write(path, statement)
    before = path.read_bytes()
    with pytest.raises(StorageError) as error:
        read(path)
    assert "theirs.review" in str(error.value)
    assert what in str(error.value)
    assert len(str(error.value)) < 500
    needs_the_data = "it must be below" in what or what in ("another label", "label -1")
    if not needs_the_data:  # refused before anything is written
        assert path.read_bytes() == before


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole", tmp_path / "d"
    write(whole, *(row(i % 6) for i in range(200)))
    content = whole.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for turn in range(150):
        damaged = bytearray(content)
        if turn % 3:
            for at in rng.integers(0, len(content), 4):
                damaged[at] ^= 1 << int(rng.integers(8))
        else:
            damaged = damaged[: int(rng.integers(1, len(content)))]
        path.write_bytes(damaged)
        try:
            found = read(path)
        except (StorageError, OptionError):
            refused += 1
        else:
            assert set(found) <= set(range(6))
        path.unlink()
        for beside in tmp_path.glob("d-*"):
            beside.unlink()
    assert refused > 50


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_only_regular_files(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "d"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    with pytest.raises(StorageError, match="not a regular file"):
        Decisions(path, "one")


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def become_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [Path.unlink, replace, become_fifo])
def test_nothing_is_acknowledged_without_the_file(
    tmp_path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d"
    with contextlib.closing(Decisions(path, "one")) as decisions:
        first = decisions.add(1, "accept", 0, None)
        # between the insertion and the commit
        refuse = Decisions._refuse_other_file
        calls = []

        def at_once(self: Decisions) -> None:
            calls.append(1)
            if len(calls) == 2:
                change(path)
            refuse(self)

        monkeypatch.setattr(Decisions, "_refuse_other_file", at_once)
        with pytest.raises(DecisionsUnavailable, match=r"deleted|replaced|regular"):
            decisions.add(2, "accept", 0, None)
        monkeypatch.undo()
        with pytest.raises(DecisionsUnavailable, match=r"deleted|replaced|regular"):
            decisions.add(2, "accept", 0, None)
        with pytest.raises(DecisionsUnavailable, match=r"deleted|replaced|regular"):
            decisions.take_back(first.number)
        assert list(decisions.current()) == [1]  # to be exported


def test_gone_during_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d"
    with contextlib.closing(Decisions(path, "one")) as decisions:
        refuse, calls = Decisions._refuse_other_file, []

        def after(self: Decisions) -> None:
            calls.append(1)
            if len(calls) == 3:  # before, before the commit, after it
                path.unlink()
            refuse(self)

        monkeypatch.setattr(Decisions, "_refuse_other_file", after)
        with pytest.raises(DecisionsUnavailable, match="deleted"):
            decisions.add(2, "accept", 0, None)
        assert len(calls) == 3


def test_a_file_that_comes_back_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with contextlib.closing(Decisions(path, "one")) as decisions:
        path.rename(tmp_path / "elsewhere")
        with pytest.raises(DecisionsUnavailable, match="deleted or moved"):
            decisions.add(1, "accept", 0, None)
        (tmp_path / "elsewhere").rename(path)
        decisions.add(1, "accept", 0, None)
    assert read(path) == {1: "accept"}


def test_written_over_in_place(tmp_path: Path) -> None:
    path, other = tmp_path / "d", tmp_path / "other"
    with contextlib.closing(Decisions(other, "two")) as decisions:
        for position in range(3):
            decisions.add(position, "accept", 0, None)
    with contextlib.closing(Decisions(path, "one")) as decisions:
        path.write_bytes(other.read_bytes())  # the same inode
        with pytest.raises(DecisionsUnavailable):
            decisions.add(1, "accept", 0, None)


def test_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgscore.review.decisions.BUSY_SECONDS", 0.1)
    path = tmp_path / "d"
    with (
        contextlib.closing(Decisions(path, "one")) as decisions,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DecisionsUnavailable, match="another program"):
            decisions.add(1, "accept", 0, None)
        other.execute("ROLLBACK")
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM decisions").fetchone()  # a reader: COMMIT has to wait
        with pytest.raises(DecisionsUnavailable, match="another program"):
            decisions.add(1, "accept", 0, None)
        assert decisions.current() == {}
        other.execute("ROLLBACK")
        decisions.add(1, "accept", 0, None)
    assert read(path) == {1: "accept"}


def test_decisions(tmp_path: Path) -> None:
    decisions = Decisions(tmp_path / "d", "one")
    first = decisions.add(5, "accept", 2, None)
    with pytest.raises(Overtaken) as other:
        decisions.add(5, "keep", 1, None)
    assert other.value.decision == first
    second = decisions.add(5, "keep", 1, first.number)
    assert decisions.current() == {5: second}
    with pytest.raises(Overtaken):
        decisions.take_back(first.number)
    assert decisions.take_back(second.number) == second
    assert decisions.current() == {5: first}
    decisions.take_back(first.number)
    assert decisions.current() == {}
    third = decisions.add(5, "skip", 1, None)
    decisions.close()
    again = Decisions(tmp_path / "d", "one")
    assert again.current() == {5: third}
    again.close()
    with pytest.raises(OptionError, match="other data"):
        Decisions(tmp_path / "d", "two")
    (tmp_path / "no").write_bytes(b"something else entirely, and long enough")
    with pytest.raises(StorageError, match="not a file of decisions"):
        Decisions(tmp_path / "no", "one")
    with contextlib.closing(sqlite3.connect(tmp_path / "app.db")) as other_file:
        other_file.execute("CREATE TABLE theirs (a)")
    with pytest.raises(StorageError, match="another program"):
        Decisions(tmp_path / "app.db", "one")
    with pytest.raises(StorageError, match="cannot be opened"):
        Decisions(tmp_path / "nowhere" / "d", "one")


def test_many_decisions_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with contextlib.closing(Decisions(path, "one")) as decisions:
        decisions.expect(CODES, 3)
        assert decisions.add_all({0: ("keep", 0), 1: ("change", 2)}) == {0: None, 1: None}
        before = decisions.add_all({0: ("keep", 0), 1: ("keep", 1), 2: ("accept", 0)})
        assert {at: one and one.action for at, one in before.items()} == {1: "change", 2: None}
        os.replace(shutil.copy(path, tmp_path / "copy"), path)
        with pytest.raises(DecisionsUnavailable, match="was replaced by another file"):
            decisions.add_all({3: ("keep", 0), 4: ("keep", 1)})
    assert read(path) == {0: "keep", 1: "keep", 2: "accept"}
