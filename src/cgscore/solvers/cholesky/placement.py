"""Choice between memory and disk for the panels; an early error if neither is large enough."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil

from cgscore.errors import MemoryLimitError
from cgscore.execution.machine import memory_room, show_bytes
from cgscore.solvers.cholesky.plan import Plan
from cgscore.solvers.cholesky.storage import InMemory, OnDisk, PanelFiles, Store

SAFE_SHARE = 0.95  # of the free memory; right-hand sides and pieces of H need some as well


def place(layout: Plan, p: int, limit: int | None, files: PanelFiles | None) -> Store:
    """Storage for the panels of `layout`.

    Parameters
    ----------
    layout : Plan
        Sizes of the panels.
    p : int
        Numbers in a row; the rows are in memory already and count against an explicit limit.
    limit : int or None
        Bytes that may be used, or None for the free memory of the machine.
    files : PanelFiles or None
        Files of a checkpoint, which hold the panels in any case.
    """
    room = memory_room(limit, taken=8 * layout.n * p, share=SAFE_SHARE)
    if layout.streamed > room.bytes and layout.in_memory > room.bytes:
        raise MemoryLimitError(
            f"Scoring {layout.n:,} examples exactly needs {show_bytes(layout.in_memory)} of "
            f"memory, or {show_bytes(layout.streamed)} and {show_bytes(layout.disk)} of disk; "
            f"{room}. Score a sample of the examples, or use a machine with more memory."
        )
    if layout.in_memory <= room.bytes:
        if files:
            _refuse_full_disk(layout, files.folder, "A checkpoint of")
        return InMemory(layout, files)
    if not files:
        files = PanelFiles(layout, scratch_folder(), keep=False)
    why = f"With {show_bytes(room.bytes)} of memory"
    _refuse_full_disk(layout, files.folder, f"{why}, scoring exactly")
    return OnDisk(layout, files)


def _refuse_full_disk(layout: Plan, folder: Path, purpose: str) -> None:
    """Raise `MemoryLimitError` if the panels do not fit on the disk of `folder`."""
    present = sum(entry.stat().st_size for entry in folder.glob("panel-*"))
    free = shutil.disk_usage(folder).free + present
    needed = layout.disk + 16 * layout.n * (layout.panels + 1)
    if needed > free:
        raise MemoryLimitError(
            f"{purpose} {layout.n:,} examples needs {show_bytes(needed)} of disk; "
            f"{show_bytes(free)} is free in {folder}. Give a checkpoint folder on a larger disk "
            "(or set TMPDIR to one), or score a sample of the examples."
        )


def scratch_folder() -> Path:
    """A folder for temporary files that is not itself in memory."""
    usual = Path(tempfile.gettempdir())
    for folder in (usual, Path("/var/tmp"), Path.cwd()):  # noqa: S108
        if folder.is_dir() and os.access(folder, os.W_OK) and not _in_memory(folder):
            return folder
    return usual


def _in_memory(folder: Path) -> bool:
    mounts = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    for parent in (folder.resolve(), *folder.resolve().parents):
        if str(parent) in mounts:
            return mounts[str(parent)] in ("tmpfs", "ramfs")
    return False
