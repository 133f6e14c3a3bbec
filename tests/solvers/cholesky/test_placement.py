"""Whether panels are kept in memory or on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore.errors import MemoryLimitError
from cgscore.execution import machine
from cgscore.solvers.cholesky import placement
from cgscore.solvers.cholesky.placement import place
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.cholesky.storage import InMemory, OnDisk


def test_where_panels_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = plan(7700, 10)
    assert isinstance(place(layout, 10, None, None), InMemory)
    assert isinstance(place(layout, 10, 10**9, None), InMemory)
    monkeypatch.setattr(machine, "available_memory", lambda: layout.in_memory)
    assert isinstance(place(layout, 10, None, None), OnDisk)
    assert isinstance(place(layout, 10, 10**12, None), OnDisk)  # a limit above what there is
    monkeypatch.setattr(machine, "available_memory", lambda: layout.streamed - 1)
    with pytest.raises(MemoryLimitError, match=r"needs 339 MB of memory, or 145 MB and 271 MB"):
        place(layout, 10, None, None)


def test_a_full_disk_is_refused_with_the_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = plan(20_000, 10, limit=10**9)
    usage = type("Usage", (), {"free": 10**9})
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage)
    with pytest.raises(MemoryLimitError, match=r"20,000 examples needs 1.7\d GB of disk; 1 GB is"):
        place(layout, 10, 10**9, None)


def test_temporary_folders_in_memory_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert placement.scratch_folder() == tmp_path
    part = type("Part", (), {"mountpoint": str(tmp_path.resolve()), "fstype": "tmpfs"})
    monkeypatch.setattr("psutil.disk_partitions", lambda all: [part])
    assert placement.scratch_folder() != tmp_path
