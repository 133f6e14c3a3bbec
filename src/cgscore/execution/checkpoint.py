"""A folder from which an interrupted run resumes: its work, finished panels, finished steps.

::

    checkpoint.json        everything that decides the result; other work is rejected
    panel-00000.tiles      finished row panels of the factor (`storage.PanelFiles`)
    NAME.arrays            arrays of another finished step
    lock                   locked while a process works here

Every part is sealed for its name and this work (`execution.sealed`); a part that is damaged,
swapped or from elsewhere is computed again, and `Checkpoint.renewed` lists it.

Every file is written under another name, flushed to the disk and then renamed, so that after a
kill or a power cut each is whole or absent.
"""

from __future__ import annotations

import io
import json
import sys
import weakref
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy
import xxhash
from numpy.typing import NDArray

from cgscore.errors import StorageError
from cgscore.execution.blas import libraries
from cgscore.execution.file_lock import FileLock
from cgscore.execution.files import naming_failures, sync_folder, write_and_rename
from cgscore.execution.sealed import renewed, sealed, unsealed, work_digest
from cgscore.kernel import Kernel, UnitRows

FORMAT = 2

_MANIFEST = "checkpoint.json"
_MAX_MANIFEST_BYTES = 1 << 20  # larger files are not read
_NAMES = {
    "format": "the layout of the files",
    "cgscore": "cgscore's version",
    "numpy": "numpy's version",
    "scipy": "scipy's version",
    "blas": "the BLAS library and its threads",
    "rows": "the number of distinct rows",
    "columns": "the number of columns",
    "inputs": "the data",
    "kernel": "the kernel",
    "ridge": "the ridge",
    "byte_order": "the byte order",
    "method": "the method",
    "dtype": "the dtype",
    "edges": "the panels (they follow from memory_limit)",
    "labels": "the labels",
    "seed": "the seed",
    "storage": "where the kernel matrix is",
    "ratio": "the ratio",
    "blocks": "the number of blocks (it follows from memory_limit)",
    "model": "layers or weights at the start",
    "subset": "the rows trained on",
    "selection": "the selection",
    "landmarks": "the number of landmarks",
    "predictions": "the precision of predictions (it follows from keep_predictions)",
    "test": "the test data",
    "training": "the training",
}


def method_in(folder: Path) -> str | None:
    """The method of the checkpoint in a folder; None if there is no checkpoint."""
    manifest = folder / _MANIFEST
    if not manifest.is_file():
        return None
    method = _read(manifest).get("method")
    return method if isinstance(method, str) else None


def identity(rows: UnitRows, ridge: float, **more: Any) -> dict[str, Any]:
    """Everything that decides the bits of a result; `more` is particular to a method."""
    digest = xxhash.xxh3_128()
    for part in (rows.centred, rows.centre):
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return work_identity(digest.hexdigest(), rows.shape, rows.kernel, ridge, **more)


def work_identity(
    inputs: str,
    shape: tuple[int, int],
    kernel: Kernel,
    ridge: float,
    *,
    blas_threads: bool = True,
    **more: Any,
) -> dict[str, Any]:
    """As `identity`, for inputs of this digest and shape.

    `blas_threads` says whether the number of BLAS threads decides bits, too.
    """
    from cgscore import __version__

    return {
        "format": FORMAT,
        "cgscore": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": libraries(blas_threads),
        "inputs": inputs,
        "rows": shape[0],
        "columns": shape[1],
        "kernel": kernel.name,
        "ridge": ridge,
        "byte_order": sys.byteorder,
        **more,
    }


def digest_of(array: NDArray[Any]) -> str:
    """A hash of the contents of an array."""
    return str(xxhash.xxh3_64_hexdigest(np.ascontiguousarray(array).tobytes()))


class StepStore(Protocol):
    """Stores the arrays of finished steps; see `Checkpoint`."""

    def load(self, name: str) -> dict[str, Any] | None:
        """Arrays that an earlier run saved under this name, or None."""
        ...

    def save(self, name: str, **arrays: Any) -> None:
        """Save the arrays of a finished step."""
        ...


class Files(Protocol):
    """Files in a checkpoint that another class writes, such as the panels of a factor."""

    renewed: list[str]

    def close(self) -> None:
        """Finish pending writes."""
        ...


class Checkpoint:
    """An open, locked folder of finished parts of exactly this work."""

    def __init__(self, folder: Path, work: Mapping[str, Any]) -> None:
        self.folder = folder
        self.digest = work_digest(work)
        self._release = weakref.finalize(self, _open_folder(folder, work).close)
        self._files: Files | None = None
        self._renewed: list[str] = []

    def renewed(self) -> list[str]:
        """A sentence about stored parts that could not be used, if there were any."""
        names = [*(self._files.renewed if self._files else []), *self._renewed]
        return [renewed(f"The checkpoint {self.folder.name}", names)] if names else []

    def attach(self, files: Files) -> None:
        """Close these files with the checkpoint, and include their unusable parts in `renewed`."""
        self._files = files

    def load(self, name: str) -> dict[str, Any] | None:
        """The arrays saved under `name`; None if they are missing or damaged."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            content = unsealed(path.read_bytes(), self.digest, name) if path.is_file() else None
            if content is not None:
                with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                    return dict(arrays)
        except (ValueError, OSError, zipfile.BadZipFile):
            pass
        if path.name not in self._renewed:
            self._renewed.append(path.name)
        return None

    def save(self, name: str, **arrays: Any) -> None:
        """Save arrays under a name."""
        content = io.BytesIO()
        np.savez(content, **arrays)
        _write_whole(self._path(name), sealed(content.getvalue(), self.digest, name))

    def close(self) -> None:
        """Finish pending writes and unlock the folder."""
        if self._files:
            self._files.close()
        self._release()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.arrays"


def _open_folder(folder: Path, work: Mapping[str, Any]) -> FileLock:
    """Lock the folder, created if missing, and check that it belongs to this work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"checkpoint={str(folder)!r}: cannot make this folder ({error.strerror})."
        ) from error
    manifest = folder / _MANIFEST
    lock = _lock_folder(folder)
    try:
        # a run that was cut short leaves the second
        permitted = ("lock", f"{Path(_MANIFEST).stem}.part")
        others = sorted(entry.name for entry in folder.iterdir() if entry.name not in permitted)
        if manifest.is_file():
            _compare(folder, _read(manifest), work)
        elif others:
            raise StorageError(
                f"checkpoint={str(folder)!r}: the folder is not empty and holds no checkpoint "
                f"(found {others[0]!r}). Give a new or empty folder."
            )
        else:
            _write_whole(manifest, (json.dumps(dict(work), indent=2) + "\n").encode())
            sync_folder(folder.parent)
    except BaseException:
        lock.close()
        if not manifest.exists():
            with suppress(OSError):  # Windows: another process has opened it
                (folder / "lock").unlink()
        raise
    return lock


def _read(manifest: Path) -> dict[str, Any]:
    try:
        if manifest.stat().st_size > _MAX_MANIFEST_BYTES:
            raise ValueError("too large")
        content = json.loads(manifest.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("no record")
    except (OSError, ValueError, RecursionError) as error:
        raise StorageError(
            f"{manifest}: this is not a checkpoint of cgscore ({error}). Give another folder."
        ) from error
    return content


def _compare(folder: Path, recorded: Mapping[str, Any], work: Mapping[str, Any]) -> None:
    plural = ("inputs", "edges", "labels", "model", "subset", "test")
    for key in _NAMES:
        if recorded.get(key) != work.get(key):
            detail = "" if key in plural else f": {recorded.get(key)!s}, now {work.get(key)}"
            raise StorageError(
                f"checkpoint={str(folder)!r} belongs to other work: {_NAMES[key]} "
                f"differ{'' if key in plural else 's'}{detail}. Give another folder, "
                "or remove this one to start again."
            )


def _lock_folder(folder: Path) -> FileLock:
    try:
        return FileLock(folder / "lock")
    except BlockingIOError as error:
        raise StorageError(
            f"checkpoint={str(folder)!r} is in use by another factor or process. "
            "Wait for it, close it, or give another folder."
        ) from error
    except OSError as error:
        raise StorageError(
            f"checkpoint={str(folder)!r}: cannot write in this folder ({error.strerror})."
        ) from error


def _write_whole(path: Path, content: bytes) -> None:
    with naming_failures(str(path)):
        write_and_rename(path.with_suffix(".part"), path, lambda file: file.write(content))
        sync_folder(path.parent)
