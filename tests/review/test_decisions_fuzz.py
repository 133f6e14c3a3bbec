"""Decisions files with random damage: read as they are, or refused and left as they were."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import CGScoreError
from cgscore.review.database import ACTIONS, Decision
from cgscore.review.decisions import Decisions

CODES = np.array([0, 1, 2, 0, 1, 2])
CLASSES = 3
SECONDS = 20.0  # after which a file counts as one that hangs
PAGE = 4096

Damage = Callable[[np.random.Generator, Path], None]

VALUES = (
    "-1",
    "0",
    "5",
    "6",
    "1.5",
    "9e999",
    "-9e999",
    "9223372036854775807",
    "-9223372036854775808",
    "NULL",
    "'x'",
    "''",
    "x'00ff'",
    "CAST(x'ff' AS TEXT)",
    "'keep'",
    "'2024-05-01T12:00:00.000+00:00'",
    "zeroblob(100000)",
    "'nan'",
    "char(0)",
)
COLUMNS = {
    "decisions": ("number", "position", "action", "label", "made"),
    "taken_back": ("number", "made"),
    "about": ("name", "value"),
    "sqlite_sequence": ("name", "seq"),
}
SCHEMA = (
    "CREATE TABLE more (a)",
    "CREATE VIEW more AS SELECT * FROM decisions",
    "CREATE TRIGGER more AFTER INSERT ON decisions BEGIN DELETE FROM decisions; END",
    "CREATE INDEX more ON decisions (label)",
    "CREATE TABLE more (a); DROP TABLE decisions",
    "DROP TABLE taken_back",
    "DROP TABLE about",
    "ALTER TABLE decisions RENAME TO others",
    "ALTER TABLE decisions RENAME COLUMN label TO class",
    "ALTER TABLE about ADD COLUMN more DEFAULT 1",
    "CREATE VIRTUAL TABLE more USING fts5(a)",
    "PRAGMA application_id = 7",
    "PRAGMA user_version = 9",
    "PRAGMA auto_vacuum = FULL; VACUUM",
    "PRAGMA page_size = 512; VACUUM",
    "PRAGMA encoding = 'UTF-16'; VACUUM",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = x'00' WHERE name = 'decisions'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 5 WHERE name LIKE '%about_1'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 1 WHERE name = 'about'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 99 WHERE name = 'about'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = NULL WHERE name = 'about'",
    "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)",
)


def flip(rng: np.random.Generator, path: Path) -> None:
    content = bytearray(path.read_bytes())
    first = 100 if rng.random() < 0.3 else len(content)  # often in the header
    for at in rng.integers(0, first, int(rng.integers(1, 9))):
        content[at] = int(rng.integers(256))
    path.write_bytes(content)


def truncate(rng: np.random.Generator, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(rng.integers(0, len(content)))])


def lengthen(rng: np.random.Generator, path: Path) -> None:
    path.write_bytes(path.read_bytes() + rng.bytes(int(rng.integers(1, 3 * PAGE))))


def swap_pages(rng: np.random.Generator, path: Path) -> None:
    content = bytearray(path.read_bytes())
    a, b = (slice(PAGE * int(i), PAGE * int(i) + PAGE) for i in rng.integers(0, _pages(path), 2))
    content[a], content[b] = content[b], content[a]
    path.write_bytes(content)


def repeat_page(rng: np.random.Generator, path: Path) -> None:
    content = bytearray(path.read_bytes())
    a, b = (slice(PAGE * int(i), PAGE * int(i) + PAGE) for i in rng.integers(0, _pages(path), 2))
    content[a] = content[b]
    path.write_bytes(content)


def plant_value(rng: np.random.Generator, path: Path) -> None:
    table = str(rng.choice(list(COLUMNS)))
    column, value = rng.choice(COLUMNS[table]), rng.choice(VALUES)
    which = f"(SELECT rowid FROM {table} ORDER BY random() LIMIT 1)"
    _execute(path, f"UPDATE {table} SET {column} = {value} WHERE rowid = {which}")


def plant_row(rng: np.random.Generator, path: Path) -> None:
    table = str(rng.choice(list(COLUMNS)))
    values = ", ".join(str(rng.choice(VALUES)) for _ in COLUMNS[table])
    _execute(path, f"INSERT INTO {table} VALUES ({values})")


def change_schema(rng: np.random.Generator, path: Path) -> None:
    _execute(path, str(rng.choice(SCHEMA)))


def put_beside(rng: np.random.Generator, path: Path) -> None:
    """A log or journal of noise, or of another file."""
    kind = str(rng.choice(["-wal", "-shm", "-journal"]))
    if rng.random() < 0.5:
        content = rng.bytes(int(rng.integers(0, 3 * PAGE)))
    else:
        content = path.read_bytes()[: int(rng.integers(0, 3 * PAGE))]
    path.with_name(path.name + kind).write_bytes(content)


def write_to_log(rng: np.random.Generator, path: Path) -> None:
    """A row that is in a log beside the file only, as after a crash of the first version."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        values = ", ".join(str(rng.choice(VALUES)) for _ in COLUMNS["decisions"])
        with contextlib.suppress(sqlite3.Error):
            other.execute(f"INSERT INTO decisions VALUES ({values})")
        parts = {one: one.read_bytes() for one in path.parent.glob(f"{path.name}*")}
    for one, content in parts.items():  # closing had put the log into the file
        if not one.name.endswith("-shm"):
            one.write_bytes(content)
    log = path.with_name(f"{path.name}-wal")
    if rng.random() < 0.5 and log.exists() and log.stat().st_size:
        flip(rng, log)


DAMAGES: tuple[Damage, ...] = (
    flip,
    truncate,
    lengthen,
    swap_pages,
    repeat_page,
    plant_value,
    plant_row,
    change_schema,
    put_beside,
    write_to_log,
)


def _pages(path: Path) -> int:
    return path.stat().st_size // PAGE


def _execute(path: Path, statements: str) -> None:
    with (
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection,
        contextlib.suppress(sqlite3.Error),  # such damage is not possible here: none is done
    ):
        connection.executescript(statements)


def made(path: Path) -> None:
    """A file of some pages, written by the class itself."""
    with contextlib.closing(Decisions(path, "one")) as decisions:
        decisions.expect(CODES, CLASSES)
    rows = [
        (position, action, int(CODES[position]), "2024-05-01T12:00:00.000+00:00")
        for position in range(6)
        for action in ACTIONS
    ]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "INSERT INTO decisions (position, action, label, made) VALUES (?, ?, ?, ?)", rows * 10
        )
        back = [(number, rows[0][3]) for number in range(1, 240, 3)]
        connection.executemany("INSERT INTO taken_back VALUES (?, ?)", back)
        connection.commit()


def independently(path: Path) -> dict[int, tuple[Any, ...]]:
    """What stands, asked of SQLite in one statement."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
        rows = connection.execute(
            "SELECT position, max(number), action, label FROM decisions "
            "WHERE number NOT IN (SELECT number FROM taken_back) GROUP BY position"
        ).fetchall()
    return {row[0]: row[1:] for row in rows}


def use(path: Path, outcome: dict[str, Any]) -> None:
    """Open, read, write, take back."""
    try:
        with contextlib.closing(Decisions(path, "one")) as decisions:
            outcome["opened"] = True
            decisions.expect(CODES, CLASSES)
            before = outcome["found"] = decisions.current()
            known = before[2].number if 2 in before else None
            outcome["added"] = decisions.add(2, "keep", 2, known)
            decisions.take_back(outcome["added"].number)
            assert decisions.current() == before
    except CGScoreError as error:
        outcome["refused"] = error
    except BaseException as error:
        outcome["raised"] = error


def check(path: Path, damages: list[str]) -> str:
    """How it ended, after a look at what it left behind."""
    before = path.read_bytes()
    recovered = path.with_name(f"{path.name}-journal").exists()  # SQLite's own, before all else
    outcome: dict[str, Any] = {}
    worker = threading.Thread(target=use, args=(path, outcome), daemon=True)
    worker.start()
    worker.join(SECONDS)
    assert not worker.is_alive(), f"hangs after {damages}"
    if "raised" in outcome:
        raise AssertionError(f"{outcome['raised']!r} after {damages}") from outcome["raised"]
    if "refused" in outcome:
        assert path.name in str(outcome["refused"]), damages
        assert len(str(outcome["refused"])) < 1000, damages
        if "opened" not in outcome and not recovered:
            assert path.read_bytes() == before, f"changed after {damages}"
        return "refused"
    found: dict[int, Decision] = outcome["found"]
    standing = {at: (one.number, one.action, one.label) for at, one in found.items()}
    assert standing == independently(path), damages
    for at, one in found.items():
        assert (at, one.label) in {(a, b) for a in range(6) for b in range(CLASSES)}, damages
        assert one.action in ACTIONS, damages
        assert type(one.position) is type(one.label) is type(one.number) is int, damages
    return "read"


def fuzz(folder: Path, seed: int, rounds: int) -> dict[str, dict[str, int]]:
    """How often files with each damage were refused and read."""
    rng = np.random.default_rng(seed)
    whole, path = folder / "whole", folder / "d.review"
    made(whole)
    content = whole.read_bytes()
    assert len(content) >= 4 * PAGE
    ended = {damage.__name__: {"refused": 0, "read": 0} for damage in DAMAGES}
    for turn in range(rounds):
        for old in folder.glob("d.review*"):
            old.unlink()
        path.write_bytes(content)
        first = DAMAGES[turn % len(DAMAGES)]
        chosen = [first]
        if rng.random() < 0.3:
            chosen.append(DAMAGES[int(rng.integers(len(DAMAGES)))])
        for damage in chosen:
            with contextlib.suppress(sqlite3.Error, ValueError):  # too damaged for a second one
                damage(rng, path)
        ended[first.__name__][check(path, [one.__name__ for one in chosen])] += 1
    return ended


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_damage_is_refused_or_harmless(tmp_path: Path, seed: int) -> None:
    ended = fuzz(tmp_path, seed, 500)
    assert all(one["refused"] > 0 for one in ended.values()), ended
    assert sum(one["read"] for one in ended.values()) > 50, ended
