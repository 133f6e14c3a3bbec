"""Where the panels of a factor live: in memory, or in files that are read ahead of their use.

One file per panel: its tiles, then numbers that belong to it, then seals (`execution.sealed`) of
every tile, of the numbers and of the seals, each for its place in this work. A file gets its name
when it is complete and on the disk, and every tile is checked whenever it is read, so a torn,
damaged or exchanged file is never used. Files of a checkpoint stay; others have no name and vanish
with the process.

Tiles are written behind by one thread and read ahead by another while BLAS computes.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from cgscore.errors import StorageError
from cgscore.execution.files import (
    naming_failures,
    rename_over,
    scratch_file,
    sync_file,
    sync_folder,
)
from cgscore.execution.sealed import seal
from cgscore.solvers.cholesky.plan import TILES_PER_RUN, Plan
from cgscore.typing import Array, Matrix

_MAX_OPEN_FILES = 64  # named files that are open at a time

Run = tuple[int, int, int]  # panel, first tile, last tile (exclusive)


class Store(Protocol):
    """Panels of a lower triangular matrix, finished one after the other."""

    plan: Plan

    def blank(self, i: int) -> Matrix:
        """Room for panel i, Fortran-ordered, contents undefined."""
        ...

    def finish_tile(self, i: int, j: int, panel: Matrix) -> None:
        """Tile j of panel i has its final values; they are kept until `finish_panel`."""
        ...

    def finish_panel(self, i: int, notes: Array) -> None:
        """Panel i is complete; `notes` are numbers to be kept with it."""
        ...

    def restore(self, i: int) -> Array | None:
        """The notes of panel i if an earlier run finished it and it is undamaged."""
        ...

    def stream(self, runs: Iterable[Run]) -> Iterator[Matrix]:
        """Runs of tiles of finished panels, each valid until the next is requested."""
        ...

    def rest(self) -> None:
        """Release buffers that are needed only until all panels are finished."""
        ...

    def close(self) -> None:
        """Close files; panels on disk can no longer be read."""
        ...

    def describe(self) -> str:
        """Where the panels are, in a few words."""
        ...


class InMemory:
    """All panels in memory, copied to files as they are finished if there are any."""

    def __init__(self, plan: Plan, files: PanelFiles | None = None) -> None:
        self.plan = plan
        self._files = files
        self._panels: list[Matrix] = []

    def blank(self, i: int) -> Matrix:
        """A new array, kept as panel i."""
        panel = np.empty((self.plan.height(i), self.plan.edges[i + 1]), self.plan.dtype, order="F")
        self._panels.append(panel)
        return panel

    def finish_tile(self, i: int, j: int, panel: Matrix) -> None:
        """Copy the tile to its file."""
        if self._files:
            self._files.write(i, j, panel)

    def finish_panel(self, i: int, notes: Array) -> None:
        """Complete the file."""
        if self._files:
            self._files.complete(i, notes)
            self._files.raise_failures()

    def restore(self, i: int) -> Array | None:
        """Panel i from its file."""
        if not self._files or not self._files.complete_before(i):
            return None
        e, panel = self.plan.edges, self.blank(i)
        try:
            for a, b in self.plan.runs(0, i + 1):
                self._files.read((i, a, b), panel[:, e[a] : e[b]])
        except StorageError:
            self._panels.pop()
            self._files.forget(i)
            return None
        return self._files.notes(i)

    def stream(self, runs: Iterable[Run]) -> Iterator[Matrix]:
        """Views of the panels."""
        e = self.plan.edges
        for i, a, b in runs:
            yield self._panels[i][:, e[a] : e[b]]

    def rest(self) -> None:
        """Wait for the files."""
        if self._files:
            self._files.finish()

    def close(self) -> None:
        """Close the files; the panels stay in memory."""
        if self._files:
            self._files.close()

    def describe(self) -> str:
        """Where the panels are."""
        return "memory"


class OnDisk:
    """One panel in memory at a time, the others in files."""

    def __init__(self, plan: Plan, files: PanelFiles) -> None:
        self.plan = plan
        self._files = files
        self._room: Matrix | None = None
        self._buffers = [np.empty(TILES_PER_RUN * plan.widest**2, plan.dtype) for _ in range(2)]
        self._reader = ThreadPoolExecutor(1)
        self._turn = threading.RLock()
        self._process = os.getpid()
        self._closed = False

    def blank(self, i: int) -> Matrix:
        """The one panel in memory, when the one before is written."""
        self._files.settle()
        if self._room is None:
            self._room = np.empty(self.plan.widest * self.plan.n, self.plan.dtype)
        height, width = self.plan.height(i), self.plan.edges[i + 1]
        return self._room[: height * width].reshape(height, width, order="F")

    def finish_tile(self, i: int, j: int, panel: Matrix) -> None:
        """Write the tile in the background."""
        self._files.write(i, j, panel)

    def finish_panel(self, i: int, notes: Array) -> None:
        """Complete the file."""
        self._files.complete(i, notes)

    def restore(self, i: int) -> Array | None:
        """Read the whole panel once to check its seals."""
        if not self._files.complete_before(i):
            return None
        try:
            for _ in self.stream((i, a, b) for a, b in self.plan.runs(0, i + 1)):
                pass
        except StorageError:
            self._files.forget(i)
            return None
        return self._files.notes(i)

    def stream(self, runs: Iterable[Run]) -> Iterator[Matrix]:
        """Read one run ahead of its use; other threads wait until this stream has ended."""
        if self._closed:
            raise StorageError("This factor was closed; its panels on disk cannot be read.")
        if os.getpid() != self._process:
            raise StorageError(
                "A factor that is kept on disk cannot be used in a forked process. "
                "Make it there, or give it more memory."
            )
        with self._turn:
            coming: Future[Matrix] | None = None
            for count, run in enumerate(runs):
                ready = coming.result() if coming else None
                coming = self._reader.submit(self._read, run, self._buffers[count % 2])
                if ready is not None:
                    yield ready
            if coming:
                yield coming.result()

    def _read(self, run: Run, buffer: Matrix) -> Matrix:
        i, a, b = run
        height, width = self.plan.height(i), self.plan.edges[b] - self.plan.edges[a]
        out = buffer[: height * width].reshape(height, width, order="F")
        self._files.read(run, out)
        return out

    def rest(self) -> None:
        """Free the panel in memory."""
        self._files.finish()
        self._room = None

    def close(self) -> None:
        """Close the files; temporary ones are removed."""
        self._closed = True
        self._reader.shutdown()
        self._files.close()

    def describe(self) -> str:
        """Where the panels are."""
        return "disk"


class PanelFiles:
    """The files behind a store: named ones in a checkpoint's folder, or nameless temporary ones."""

    def __init__(self, plan: Plan, folder: Path, *, keep: bool, work: str = "") -> None:
        self.plan = plan
        self.renewed: list[str] = []  # files that were there and could not be used
        self._work = work
        self.folder = folder
        self._keep = keep
        self._files: dict[int, IO[bytes]] = {}
        self._unfinished: dict[int, IO[bytes]] = {}
        self._sums: dict[int, list[int]] = {}
        self._notes: dict[int, Array] = {}
        self._writer = ThreadPoolExecutor(1)
        self._writes: list[Future[None]] = []
        self._completions: dict[int, Future[None]] = {}
        self._release = weakref.finalize(self, _close, self._files, self._unfinished)

    def write(self, i: int, j: int, panel: Matrix) -> None:
        """Write tile j of panel i in the background; it must not change before `settle`."""
        self._writes.append(self._writer.submit(self._write, i, j, panel))

    def complete(self, i: int, notes: Array) -> None:
        """After its tiles: the notes and checksums of panel i, and its name."""
        self._completions[i] = self._writer.submit(self._complete, i, notes)

    def settle(self) -> None:
        """Wait until all tiles are written; raise the first error."""
        writes, self._writes = self._writes, []
        for write in writes:
            write.result()
        self.raise_failures()

    def close(self) -> None:
        """Wait for pending writes and close the files."""
        self._writer.shutdown()
        self._release()

    def raise_failures(self) -> None:
        """Raise the first error so far, without waiting."""
        pending = []
        for write in self._writes:
            if write.done():
                write.result()
            else:
                pending.append(write)
        self._writes = pending
        for i in [i for i, done in self._completions.items() if done.done()]:
            self._completions.pop(i).result()

    def finish(self) -> None:
        """Wait until all writes are on disk."""
        self.settle()
        for i in list(self._completions):
            self._completions.pop(i).result()

    def complete_before(self, i: int) -> bool:
        """Whether an earlier run left a complete file of panel i with a valid footer."""
        if not self._keep or not self._path(i).is_file():
            return False
        try:
            self._notes[i], self._sums[i] = self._end(i, self._opened(i))
        except (OSError, StorageError):
            self.forget(i)
            return False
        return True

    def forget(self, i: int) -> None:
        """Mark panel i as damaged or of other work; it is computed again."""
        self.renewed.append(self._path(i).name)
        if file := self._files.pop(i, None):
            file.close()
        self._notes.pop(i, None)
        self._sums.pop(i, None)

    def notes(self, i: int) -> Array:
        """The notes of panel i."""
        return self._notes[i]

    def read(self, run: Run, out: Matrix) -> None:
        """Read tiles into `out`, a contiguous Fortran-ordered block, and check them."""
        i, a, b = run
        if completion := self._completions.get(i):
            completion.result()
        e, file = self.plan.edges, self._opened(i)
        try:
            file.seek(self.plan.size * self.plan.height(i) * e[a])
            _read_fully(file, memoryview(out.T).cast("B"))
        except OSError as error:
            raise StorageError(f"Reading {self._name(i)} failed: {error}.") from error
        for j in range(a, b):
            tile = out[:, e[j] - e[a] : e[j + 1] - e[a]]
            if self._seal(i, j, memoryview(tile.T).cast("B")) != self._sums[i][j]:
                raise StorageError(
                    f"{self._name(i)} is damaged or not of this work: tile {j} does not have the "
                    "checksum it was written with. Run again; what is damaged is computed anew."
                )

    def _opened(self, i: int) -> IO[bytes]:
        """The file of a complete panel; at most `_MAX_OPEN_FILES` named ones are open at a time."""
        if i not in self._files:
            while self._keep and len(self._files) >= _MAX_OPEN_FILES:
                self._files.pop(next(iter(self._files))).close()
            self._files[i] = self._path(i).open("rb", buffering=0)
        return self._files[i]

    def _write(self, i: int, j: int, panel: Matrix) -> None:
        e = self.plan.edges
        tile = panel[:, e[j] : e[j + 1]]
        if j == 0:
            self._unfinished[i] = self._create(i)
            self._sums[i] = []
        with naming_failures(self._name(i)):
            _write_fully(self._unfinished[i], memoryview(tile.T).cast("B"))
        self._sums[i].append(self._seal(i, j, memoryview(tile.T).cast("B")))

    def _complete(self, i: int, notes: Array) -> None:
        sums = [*self._sums[i], self._seal(i, "notes", notes.tobytes())]
        end = np.array(sums, dtype=np.uint64).tobytes()
        whole = self._seal(i, "seals", end).to_bytes(8, "big")
        with naming_failures(self._name(i)):
            file = self._unfinished[i]
            _write_fully(file, memoryview(notes.tobytes()))
            _write_fully(file, memoryview(end + whole))
            del self._unfinished[i]
            if self._keep:
                sync_file(file)
                file.close()
                rename_over(self._path(i).with_suffix(".part"), self._path(i))
                sync_folder(self.folder)
            else:
                self._files[i] = file
        self._notes[i] = notes

    def _end(self, i: int, file: IO[bytes]) -> tuple[Array, list[int]]:
        """Notes and checksums at the end of a file."""
        start = self.plan.size * self.plan.height(i) * self.plan.edges[i + 1]
        count = self._note_count(i)
        length = 8 * (count + i + 3)
        if os.fstat(file.fileno()).st_size != start + length:
            raise StorageError(f"{self._name(i)} does not have the size it should have.")
        file.seek(start)
        raw = bytearray(length)
        _read_fully(file, memoryview(raw))
        notes, end, whole = raw[: 8 * count], raw[8 * count : -8], raw[-8:]
        sums = np.frombuffer(end, dtype=np.uint64).tolist()
        if (
            self._seal(i, "seals", end) != int.from_bytes(whole, "big")
            or self._seal(i, "notes", notes) != sums[-1]
        ):
            raise StorageError(f"{self._name(i)} is damaged at its end, or not of this work.")
        return np.frombuffer(notes, dtype=np.float64), sums[:-1]

    def _note_count(self, i: int) -> int:
        """Numbers stored with a panel: one per column, and one per row."""
        return self.plan.edges[i + 1] + self.plan.height(i)

    def _create(self, i: int) -> IO[bytes]:
        with naming_failures(self._name(i)):
            if self._keep:
                return self._path(i).with_suffix(".part").open("wb", buffering=0)
            return scratch_file(self.folder, buffering=0)

    def _seal(self, i: int, part: str | int, content: Any) -> int:
        return seal(content, self._work, self._path(i).name, part)

    def _path(self, i: int) -> Path:
        return self.folder / f"panel-{i:05d}.tiles"

    def _name(self, i: int) -> str:
        return str(self._path(i)) if self._keep else f"A temporary file in {self.folder}"


def _close(*files: dict[int, IO[bytes]]) -> None:
    for group in files:
        for file in group.values():
            file.close()


def _write_fully(file: IO[bytes], data: memoryview) -> None:
    while data:
        data = data[file.write(data) :]


def _read_fully(file: IO[bytes], out: memoryview) -> None:
    while out:
        count = file.readinto(out)  # type: ignore[attr-defined]
        if not count:
            raise OSError("the file is too short")
        out = out[count:]
