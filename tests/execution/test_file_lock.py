"""One lock for every system: POSIX's for real, that of Windows by a module with its behaviour."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from cgscore.execution import file_lock
from cgscore.execution.file_lock import FileLock


class Msvcrt(ModuleType):
    """What ``msvcrt.locking`` of Windows does: a byte of a file, locked by one open file."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.locked: dict[tuple[int, int], int] = {}  # (inode, offset) -> descriptor

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert count == 1
        place = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        if mode == self.LK_UNLCK:
            if self.locked.get(place) != descriptor:
                raise PermissionError(errno.EACCES, "Permission denied")
            del self.locked[place]
        elif place in self.locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        else:
            self.locked[place] = descriptor


@pytest.fixture(params=["of this system", "of Windows"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "of Windows":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", Msvcrt())
    return str(request.param)


def test_a_second_lock_is_refused_until_the_first_is_closed(tmp_path: Path, system: str) -> None:
    path = tmp_path / "lock"
    first = FileLock(path)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    first.close()
    first.close()
    FileLock(path).close()
    assert path.read_bytes() == b""


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import sys; from pathlib import Path; from cgscore.execution.file_lock import FileLock;"
        "held = FileLock(Path(sys.argv[1])); print('locked', flush=True); input()"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(BlockingIOError):
            FileLock(path)
        process.kill()
        process.wait()
        FileLock(path).close()


def test_without_locks_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fcntl", "msvcrt"):
        monkeypatch.setitem(sys.modules, name, None)
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.close()
    second.close()


def test_a_disk_without_locks_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(file_lock, "_functions", lambda: (refuse, refuse))
    FileLock(tmp_path / "lock").close()


def test_a_file_that_cannot_be_opened_is_another_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "nowhere" / "lock")
