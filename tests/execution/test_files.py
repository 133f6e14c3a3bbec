"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from cgscore.errors import OptionError, ResultError, StorageError
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
