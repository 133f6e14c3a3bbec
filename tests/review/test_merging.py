"""Decisions of several reviewers."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import OptionError, StorageError
from cgscore.review import Decisions, Review
from cgscore.review.merging import merge, short_name
from tests.command import invoke

GIVEN = np.zeros(20, np.intp)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Any]:
    """A function that opens files of decisions, which are closed at the end."""
    with contextlib.ExitStack() as stack:

        def opened(name: str, reviewer: str | None = None) -> Decisions:
            decisions = Decisions(tmp_path / name, "f", reviewer=reviewer)
            stack.callback(decisions.close)
            decisions.expect(GIVEN, 3)
            return decisions

        yield opened


def test_names_are_saved_and_files_without_them_stay_as_they_were(files: Any) -> None:
    ada, plain = files("ada", "Ada"), files("plain")
    ada.add(4, "accept", 1, None)
    plain.add(4, "accept", 1, None)
    assert ada.current()[4].reviewer == "Ada"
    assert plain.current()[4].reviewer is None
    for decisions, has_names in ((ada, True), (plain, False)):
        with contextlib.closing(sqlite3.connect(decisions.path)) as file:
            tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master")}
        assert ("reviewers" in tables) == has_names
    plain.close()
    later = files("plain", "Bob")  # an older file, and now with a name
    later.add(5, "keep", 0, None)
    assert {at: one.reviewer for at, one in later.current().items()} == {4: None, 5: "Bob"}


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 101, "\x1b[31m"])
def test_what_cannot_be_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="--reviewer"):
        Decisions(tmp_path / "d", "f", reviewer=name)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("row", ["(7, 'Eve')", "(1, 'two\nlines')", "(1, x'00ff')"])
def test_damaged_names_are_refused(files: Any, tmp_path: Path, row: str) -> None:
    ada = files("ada", "Ada")
    ada.add(4, "accept", 1, None)
    ada.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "ada")) as file, file:
        file.execute("DELETE FROM reviewers")
        file.execute(f"INSERT INTO reviewers VALUES {row}")
    with pytest.raises(StorageError, match="damaged"):
        Decisions(tmp_path / "ada", "f")


def test_agreement_stands_and_disagreement_is_open(files: Any) -> None:
    ada, bob, joint = files("ada", "Ada"), files("bob.review"), files("joint")
    for at, action, label in ((1, "accept", 1), (2, "accept", 1), (3, "keep", 0), (5, "skip", 0)):
        ada.add(at, action, label, None)
    for at, action, label in ((1, "accept", 1), (2, "change", 2), (3, "skip", 0), (6, "keep", 0)):
        bob.add(at, action, label, None)
    merged = merge(joint, {"Ada": ada, "bob": bob})
    assert merged.added == 8
    assert merged.agreed == 1
    assert list(merged.disagreements) == [2]
    current = joint.current()
    assert {at: one.action for at, one in current.items()} == {
        1: "accept",
        3: "keep",  # who skipped has no say
        5: "skip",
        6: "keep",
    }
    assert current[6].reviewer == "bob"
    (votes,) = joint.disagreements().values()
    assert {(vote.reviewer, vote.label) for vote in votes} == {("Ada", 1), ("bob", 2)}
    again = merge(joint, {"Ada": ada, "bob": bob})
    assert again.added == 0
    assert list(again.disagreements) == [2]
    joint.add(2, "change", 2, None)  # somebody decides
    assert joint.disagreements() == {}
    settled = merge(joint, {"Ada": ada, "bob": bob})
    assert settled.disagreements == {}
    assert joint.current()[2].label == 2


def test_several_decisions_are_saved_or_undone_together(files: Any) -> None:
    decisions = files("d")
    saved = decisions.add_many([(at, "keep", 0, None) for at in range(5)])
    with pytest.raises(Exception, match="decided elsewhere"):
        decisions.add_many([(7, "keep", 0, None), (3, "keep", 0, None)])
    assert sorted(decisions.current()) == [0, 1, 2, 3, 4]
    decisions.take_back(saved[2].number)
    with pytest.raises(Exception, match="decided elsewhere"):
        decisions.take_back_many([one.number for one in saved])
    decisions.take_back_many([saved[0].number, saved[1].number])
    assert sorted(decisions.current()) == [3, 4]
    assert decisions.disagreements() == {}


def test_the_command(photos: Any, tmp_path: Path) -> None:
    root, scores, _ = photos
    (tmp_path / "s.parquet").write_bytes((root / "s.parquet").read_bytes())
    review = Review(scores, None, Decisions(tmp_path / "ada.review", scores.meta["fingerprint"]))
    first, second = review.queue()[:2]
    review.decide(first["at"], "accept", first["to"], None)
    review.decide(second["at"], "keep", None, None)
    review.decisions.close()
    other = Decisions(tmp_path / "b.review", scores.meta["fingerprint"], reviewer="Bob\u00fc")
    review = Review(scores, None, other)
    review.decide(first["at"], "keep", None, None)
    review.decide(second["at"], "keep", None, None)
    other.close()
    arguments = ("review", "s.parquet", "--merge", "ada.review", "--merge", "b.review")
    done = invoke(*arguments, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (disagreement,) = json.loads(done.stdout)["merged"]["disagreements"]
    assert disagreement["id"] == first["id"]
    assert disagreement["labels"] == {
        "ada": review.subject.names[first["to"]],
        "Bob\u00fc": review.subject.names[first["from"]],
    }
    words = invoke(*arguments, folder=tmp_path)
    assert "agree on 1 examples and disagree on 1" in words.stdout
    assert first["id"] in words.stdout
    missing = invoke("review", "s.parquet", "--merge", "nobody", folder=tmp_path)
    assert missing.returncode == 2
    assert "there is no such file" in missing.stderr
    joint = Decisions(tmp_path / "s.parquet.review", scores.meta["fingerprint"])
    rows = {row["at"]: row for row in Review(scores, None, joint).queue()}
    assert len(rows[first["at"]]["votes"]) == 2
    assert rows[first["at"]]["decision"] is None
    joint.close()


def test_names_from_files() -> None:
    assert short_name("a\nb") == "a?b"
    assert short_name(" ") == "unnamed"
    assert len(short_name("x" * 500)) == 100
