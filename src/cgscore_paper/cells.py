"""Cells: pieces of work that are done once and found again.

A cell is a function of this package and what it is called with. Its result, numbers and arrays, is
kept in a folder under a name made of both and of the data, so that an interrupted run goes on and
two figures that need the same thing share it. Functions are called as ``function(work, **options)``
and may ask `work` for other cells.

Results are written beside their name and then renamed, and sealed for it (`execution.sealed`): a
cell that is damaged or was another's is run again, with a warning. Arrays are read without pickle.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from cgscore import __version__
from cgscore.errors import CGScoreError, CGScoreWarning, ResultError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.files import replace_file
from cgscore.execution.progress import Progress, Silent
from cgscore.execution.sealed import renewed, seal
from cgscore_paper.datasets import SOURCES, fingerprint
from cgscore_paper.plans import Plan

_HOME = "cgscore_paper."


@dataclass(frozen=True)
class Cell:
    """A function, as ``module.function`` of this package, and what it is called with.

    `options` are what JSON can write. A cell that is `alone` uses all cores by itself; others run
    beside each other, with one thread each.
    """

    function: str
    options: Mapping[str, Any] = field(default_factory=dict)
    alone: bool = False

    @property
    def name(self) -> str:
        """Of its files: what it is, and a digest of everything that it depends on."""
        plan = str(self.options.get("plan", ""))
        sizes = Plan.named(plan).sizes if plan else ""
        told = json.dumps([self.function, __version__, self.options, sizes], sort_keys=True)
        return f"{self.function.replace('.', '-')}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"

    def run(self, work: Work) -> dict[str, Any]:
        """Call the function."""
        module, function = self.function.rsplit(".", 1)
        found: dict[str, Any] = getattr(importlib.import_module(_HOME + module), function)(
            work, **self.options
        )
        return found


@dataclass(frozen=True)
class Found:
    """What a cell gave, and the seconds it took when it was run."""

    value: Mapping[str, Any]
    seconds: float

    def __getitem__(self, name: str) -> Any:
        return self.value[name]


@dataclass(frozen=True)
class Work:
    """Where cells are kept and how they are run.

    Attributes
    ----------
    folder : Path
        Of the cells.
    data : Path
        Where datasets are looked for.
    device : str
        Of torch.
    jobs : int
        Cells that run beside each other.
    progress : Progress
        Told about every cell.
    used : dict
        Seconds of every cell that was asked for, when it was run.
    """

    folder: Path
    data: Path
    device: str = "cpu"
    jobs: int = 1
    progress: Progress = field(default_factory=Silent)
    used: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    _seen: dict[str, Found] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, cell: Cell) -> Found:
        """The result of one cell, which is run unless it is known."""
        return self.all([cell])[0]

    def all(self, cells: Sequence[Cell], what: str = "") -> list[Found]:
        """The results of all cells, in their order; those that are missing are run."""
        missing = {cell.name: cell for cell in cells if self._known(cell) is None}
        if missing:
            self.folder.mkdir(parents=True, exist_ok=True)
            for cell in missing.values():
                if cell.alone:
                    self._keep(cell)  # it reports its own progress
            beside = [cell for cell in missing.values() if not cell.alone]
            with self.progress.phase(what or cells[0].function, len(beside)) as advance:
                if self.jobs > 1 and len(beside) > 1:
                    self._side_by_side(beside, advance)
                else:
                    for cell in beside:
                        self.quiet()._keep(cell)
                        advance(1)
        found = [self.found(cell) for cell in cells]
        self.used.update((cell.name, one.seconds) for cell, one in zip(cells, found, strict=True))
        return found

    def found(self, cell: Cell) -> Found:
        """The result of a cell that has been run."""
        known = self._known(cell)
        if known is None:
            raise ResultError(f"The cell {cell.name} was run and has left no result.")
        return known

    def stem(self, cell: Cell) -> str:
        """Name of a cell's files: its own, and the fingerprint of the data it may read."""
        dataset = cell.options.get("dataset")
        known = dataset if dataset in SOURCES else None
        return f"{cell.name}-{fingerprint(self.data, known)}"

    def quiet(self) -> Work:
        """The same in a process of its own: silent, one cell at a time."""
        return Work(self.folder, self.data, self.device)

    def _side_by_side(self, cells: Sequence[Cell], advance: Any) -> None:
        context = get_context("spawn")
        with ProcessPoolExecutor(self.jobs, mp_context=context, initializer=_single) as pool:
            try:
                waiting = [pool.submit(_run, self.quiet(), cell) for cell in cells]
                for done in as_completed(waiting):
                    done.result()
                    advance(1)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _known(self, cell: Cell) -> Found | None:
        if cell.name not in self._seen:
            stem = self.stem(cell)
            file = self.folder / f"{stem}.json"
            if not file.exists():
                return None
            found = _read(file, self.folder / f"{stem}.npz")
            if found is None:
                warnings.warn(
                    renewed(f"Cells in {self.folder}", [stem]), CGScoreWarning, stacklevel=4
                )
                file.unlink()
                return None
            self._seen[cell.name] = found
        return self._seen[cell.name]

    def _keep(self, cell: Cell) -> None:
        start = time.perf_counter()
        try:
            value = cell.run(self)
        except CGScoreError as error:
            raise type(error)(f"{cell.function} {dict(cell.options)}: {error}") from error
        seconds = time.perf_counter() - start
        arrays = {name: v for name, v in value.items() if isinstance(v, np.ndarray)}
        stem, packed = self.stem(cell), io.BytesIO()
        if arrays:
            np.savez(packed, **arrays)  # type: ignore[arg-type]
            replace_file(self.folder / f"{stem}.npz", lambda file: file.write(packed.getbuffer()))
        told = {
            "function": cell.function,
            "options": dict(cell.options),
            "version": __version__,
            "seconds": seconds,
            "value": {name: v for name, v in value.items() if name not in arrays},
            "arrays": sorted(arrays),
            "arrays_seal": seal(packed.getbuffer(), stem, "arrays"),
        }
        text = json.dumps({**told, "seal": _seal(told, stem)}, indent=1).encode()
        replace_file(self.folder / f"{stem}.json", lambda file: file.write(text))


def _seal(told: Mapping[str, Any], stem: str) -> int:
    return seal(json.dumps(told, sort_keys=True).encode(), stem)


def _read(path: Path, arrays: Path) -> Found | None:
    """What a cell has left, or None if that is damaged or belongs to another cell."""
    try:
        told = json.loads(path.read_text())
        if told.pop("seal") != _seal(told, path.stem):
            return None
        value = dict(told["value"])
        if told["arrays"]:
            raw = arrays.read_bytes()
            if told["arrays_seal"] != seal(raw, path.stem, "arrays"):
                return None
            with np.load(io.BytesIO(raw), allow_pickle=False) as kept:
                value |= {name: kept[name] for name in told["arrays"]}
        return Found(value, float(told["seconds"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _single() -> None:
    """One thread for all that computes in this process."""
    import torch

    torch.set_num_threads(1)


def _run(work: Work, cell: Cell) -> None:
    with one_blas_thread():
        if work._known(cell) is None:
            work._keep(cell)
