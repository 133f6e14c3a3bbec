"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cgscore.errors import OptionError, ResultError, StorageError
from cgscore.execution import files
from cgscore.execution.files import cache_folder, naming_failures, new_folder, replace_file


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "result"
    replace_file(path, lambda file: file.write(b"old"))

    def fail(file: Any) -> None:
        file.write(b"ne")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ResultError, match=r"result cannot be written: No space left on device"):
        replace_file(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_appears_when_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "kept"

    def fill(entries: list[str]) -> None:
        with new_folder(path) as beside:
            beside.mkdir()
            for name in entries:
                (beside / name).touch()
            assert not path.exists()

    with pytest.raises(ValueError, match="embedded null"):
        fill(["first", "sec\0ond"])
    assert list(tmp_path.iterdir()) == []
    fill(["first"])
    assert [entry.name for entry in tmp_path.rglob("*")] == ["kept", "first"]
    with pytest.raises(OptionError, match="kept cannot be created"), new_folder(path) as beside:
        beside.mkdir()
    assert [entry.name for entry in tmp_path.rglob("*")] == ["kept", "first"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "Free some space and run again"), (errno.EACCES, "Give another folder")],
)
def test_failures_name_the_file_and_the_way_out(number: int, advice: str) -> None:
    with pytest.raises(StorageError, match=rf"panel-3: .*{advice}"), naming_failures("panel-3"):
        raise OSError(number, "reason")


def test_the_cache_can_be_moved_and_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CGSCORE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("CGSCORE_CACHE", "off")
    assert cache_folder() is None
    monkeypatch.delenv("CGSCORE_CACHE")
    folder = cache_folder()
    assert folder is not None
    assert folder.name == "cgscore"


class Replace:
    """`os.replace` as on Windows, while another program has the file open for the first calls."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self._replace = os.replace

    def __call__(self, source: Path, target: Path) -> None:
        if self.refusals:
            self.refusals -= 1
            raise PermissionError(errno.EACCES, "Access is denied")
        self._replace(source, target)


def test_windows_renames_when_others_have_closed_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WINDOWS", True)
    monkeypatch.setattr(files, "RENAME_PAUSE", 0.0)
    monkeypatch.setattr("os.replace", Replace(3))
    replace_file(tmp_path / "result", lambda file: file.write(b"new"))
    assert (tmp_path / "result").read_bytes() == b"new"


@pytest.mark.parametrize("windows", [False, True])
def test_a_file_that_stays_open_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: bool
) -> None:
    monkeypatch.setattr(files, "WINDOWS", windows)
    monkeypatch.setattr(files, "RENAME_SECONDS", 0.05)
    monkeypatch.setattr("os.replace", refused := Replace(10**9))
    with pytest.raises(ResultError, match="cannot be written: Access is denied"):
        replace_file(tmp_path / "result", lambda file: file.write(b"new"))
    assert list(tmp_path.iterdir()) == []
    assert (10**9 - refused.refusals > 1) == windows  # elsewhere it is asked once


class Fcntl(ModuleType):
    """The module of macOS, whose own command writes a file to the disk itself."""

    F_FULLFSYNC = 51

    def __init__(self, able: bool) -> None:
        super().__init__("fcntl")
        self.calls: list[int] = []
        self._able = able

    def fcntl(self, descriptor: int, command: int) -> None:
        self.calls.append(command)
        if not self._able:
            raise OSError(errno.ENOTSUP, "Operation not supported")


@pytest.mark.parametrize("able", [False, True])
def test_macos_is_told_to_write_to_the_disk_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, able: bool
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(files, "MACOS", True)
    monkeypatch.setitem(sys.modules, "fcntl", module := Fcntl(able))
    monkeypatch.setattr("os.fsync", synced.append)
    with (tmp_path / "file").open("wb") as file:
        files.sync_file(file)
    assert module.calls == [51]
    assert bool(synced) != able  # a network disk gets the usual call


def test_windows_has_no_folders_to_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WINDOWS", True)
    monkeypatch.setattr("os.open", lambda *_: pytest.fail("a folder was opened"))
    files.sync_folder(tmp_path)
