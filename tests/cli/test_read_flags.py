"""The flags that say how a source is read."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

import cgscore
from cgscore.cli.read_flags import ReadFlags
from tests.command import invoke


def test_fields_and_defaults_are_those_of_read() -> None:
    parameters = inspect.signature(cgscore.read).parameters
    for field in fields(ReadFlags):
        assert field.default == parameters[field.name].default, field.name


def test_every_option_of_read_is_a_field() -> None:
    elsewhere = {"source", "device", "progress"}
    assert set(inspect.signature(cgscore.read).parameters) - elsewhere == set(
        ReadFlags().keywords()
    )


@pytest.mark.parametrize("command", ["score", "issues", "features", "info"])
def test_every_field_is_a_flag(tmp_path: Path, command: str) -> None:
    text = invoke(command, "--help", folder=tmp_path).stdout
    for field in fields(ReadFlags):
        assert f"  --{field.name.replace('_', '-')} " in text


def test_changed_flags() -> None:
    assert ReadFlags().changed_flags() == []
    changed = ReadFlags(label_column="kind", skip_bad=True).changed_flags()
    assert changed == ["--label-column", "--skip-bad"]


def test_columns_are_dropped_and_named(tmp_path: Path) -> None:
    rows = (f"{i},n{i},{i * i % 7},{i % 5},{'xy'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("PassengerId,Name,a,b,kind\n" + "".join(rows))
    flags = ("--label-column", "kind", "--drop", "a", "--drop", "Name")
    done = invoke("score", "t.csv", *flags, "-o", "s.parquet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out as asked: a, Name" in done.stdout
    assert "left out: PassengerId (a row counter)" in done.stdout
    options = cgscore.load(tmp_path / "s.parquet").meta["read_options"]
    assert options["drop"] == ["a", "Name"]
    done = invoke("info", "t.csv", "--label-column", "Kind", folder=tmp_path)
    assert done.returncode == 2
    assert "Did you mean 'kind'?" in done.stderr
