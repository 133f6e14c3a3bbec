"""A folder from which an interrupted run goes on: what it is of, finished panels, finished strips.

::

    checkpoint.json        what the work is of; a folder of anything else is refused by name
    panel-00000.tiles      finished row panels of the factor (`storage.PanelFiles`)
    strip-00000.d          finished parts of the inverse's diagonal, each with its checksum
    lock                   held while a process works here

Every file is written under another name, flushed to the disk and then renamed, so that after a
kill or a power cut each is whole or absent.
"""

from __future__ import annotations

import json
import os
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy
import xxhash

from cgscore.errors import StorageError
from cgscore.execution.blas import libraries
from cgscore.kernel import Array, UnitRows
from cgscore.solvers.plan import Plan
from cgscore.solvers.storage import PanelFiles, naming, sync_folder

FORMAT = 1

_MANIFEST = "checkpoint.json"
_LARGEST = 1 << 20  # bytes of a manifest that is worth reading
_NAMES = {
    "format": "the layout of the files",
    "cgscore": "cgscore's version",
    "numpy": "numpy's version",
    "scipy": "scipy's version",
    "blas": "the BLAS library and its threads",
    "rows": "the number of different rows",
    "columns": "the number of columns",
    "inputs": "the data",
    "ridge": "the ridge",
    "dtype": "the dtype",
    "edges": "the panels (they follow from memory_limit)",
    "byte_order": "the byte order",
}


def identity(rows: UnitRows, ridge: float, plan: Plan) -> dict[str, Any]:
    """Everything that decides the bits of a factor."""
    from cgscore import __version__

    digest = xxhash.xxh3_128()
    for part in (rows.centred, rows.centre):
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return {
        "format": FORMAT,
        "cgscore": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": libraries(),
        "inputs": digest.hexdigest(),
        "rows": len(rows),
        "columns": rows.centred.shape[1],
        "ridge": ridge,
        "dtype": plan.dtype,
        "edges": xxhash.xxh3_64_hexdigest(np.array(plan.edges).tobytes()),
        "byte_order": sys.byteorder,
    }


class Checkpoint:
    """An open folder; what it holds is of exactly this work."""

    def __init__(self, folder: Path, work: Mapping[str, Any], plan: Plan) -> None:
        self.folder = folder
        self._release = weakref.finalize(self, _opened(folder, work).close)
        self.files = PanelFiles(plan, folder, keep=True)

    def strip(self, number: int, length: int) -> Array | None:
        """Strip `number` of the inverse's diagonal if it is finished and sound."""
        try:
            raw = self._strip(number).read_bytes()
        except OSError:
            return None
        values, seal = raw[:-8], raw[-8:]
        if len(raw) != 8 * (length + 1) or xxhash.xxh3_64_digest(values) != seal:
            return None
        return np.frombuffer(values, dtype=np.float64)

    def finish_strip(self, number: int, values: Array) -> None:
        """Keep a finished strip."""
        raw = values.tobytes()
        _write_whole(self._strip(number), raw + xxhash.xxh3_64_digest(raw))

    def close(self) -> None:
        """Finish what is being written and let other processes work here."""
        self.files.close()
        self._release()

    def _strip(self, number: int) -> Path:
        return self.folder / f"strip-{number:05d}.d"


def _opened(folder: Path, work: Mapping[str, Any]) -> IO[str]:
    """Lock the folder, made if missing, and see that it is of this work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"checkpoint={str(folder)!r}: cannot make this folder ({error.strerror})."
        ) from error
    manifest = folder / _MANIFEST
    others = [entry.name for entry in folder.iterdir() if entry.name != "lock"]
    if others and not manifest.is_file():
        raise StorageError(
            f"checkpoint={str(folder)!r}: the folder is not empty and holds no checkpoint "
            f"(found {sorted(others)[0]!r}). Give a new or empty folder."
        )
    lock = _locked(folder)
    try:
        if manifest.is_file():
            _compare(folder, _read(manifest), work)
        else:
            _write_whole(manifest, (json.dumps(dict(work), indent=2) + "\n").encode())
    except BaseException:
        lock.close()
        raise
    return lock


def _read(manifest: Path) -> dict[str, Any]:
    try:
        if manifest.stat().st_size > _LARGEST:
            raise ValueError("too large")
        found = json.loads(manifest.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("no record")
    except (OSError, ValueError, RecursionError) as error:
        raise StorageError(
            f"{manifest}: this is no checkpoint of cgscore ({error}). Give another folder."
        ) from error
    return found


def _compare(folder: Path, found: Mapping[str, Any], work: Mapping[str, Any]) -> None:
    for key in _NAMES:
        if found.get(key) != work[key]:
            detail = "" if key in ("inputs", "edges") else f": {found.get(key)!s}, now {work[key]}"
            raise StorageError(
                f"checkpoint={str(folder)!r} belongs to other work: {_NAMES[key]} "
                f"differ{'' if key in ('inputs', 'edges') else 's'}{detail}. Give another folder, "
                "or remove this one to start again."
            )


def _locked(folder: Path) -> IO[str]:
    try:
        lock = (folder / "lock").open("w", encoding="ascii")
    except OSError as error:
        raise StorageError(
            f"checkpoint={str(folder)!r}: cannot write in this folder ({error.strerror})."
        ) from error
    if os.name == "posix":
        import fcntl

        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise StorageError(
                f"checkpoint={str(folder)!r} is in use by another process. "
                "Wait for it, or give another folder."
            ) from error
    return lock


def _write_whole(path: Path, content: bytes) -> None:
    part = path.with_suffix(".part")
    with naming(str(path)):
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
