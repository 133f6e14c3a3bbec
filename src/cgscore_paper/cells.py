"""Storage of results: every cell is computed once, and read again by whoever needs it.

A cell is a call of a job (`jobs`). Its result is stored in a folder under a name made of the job,
its version, the settings and the data. An interrupted run therefore continues where it stopped, and
two figures that need the same result share it. Beside the result stand the digest of the sources
that computed it (`sources.digest`), their commit, the machine and the date, and the precision of a
training.

Files are written under another name and then renamed, and carry a checksum for their name
(`execution.sealed`): a damaged or misplaced file is computed again, with a warning. Arrays are read
without pickle.
"""

from __future__ import annotations

import io
import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cgscore.errors import CGScoreError, CGScoreWarning, ResultError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.files import replace_file
from cgscore.execution.progress import Advance, Progress, Silent
from cgscore.execution.sealed import renewed, seal
from cgscore_paper import sources
from cgscore_paper.datasets import SOURCES, fingerprint
from cgscore_paper.jobs import Cell
from cgscore_paper.provenance import provenance

T = TypeVar("T")


class NotFinished(ResultError):
    """A result that is not stored, where none may be computed."""


def if_finished(compute: Callable[[], T]) -> T | None:
    """What a function returns, or None if it needs a result that is not finished."""
    try:
        return compute()
    except NotFinished:
        return None


@dataclass(frozen=True)
class CellResult:
    """What a cell returned, and the seconds that computing it took."""

    value: Mapping[str, Any]
    seconds: float

    def __getitem__(self, name: str) -> Any:
        return self.value[name]


@dataclass(frozen=True)
class Work:
    """The folder of results, and how missing ones are computed.

    Attributes
    ----------
    folder : Path
        Where results are stored.
    data : Path
        Where datasets are.
    device : str
        Of torch.
    precision : str
        Of the steps of trainings (`cgscore.training.Settings`). It is not part of a cell's name.
    jobs : int
        Cells that are computed in parallel.
    progress : Progress
        Receives the progress of every cell.
    stored_only : bool
        Whether missing results are an error (`NotFinished`) instead of being computed.
    used : dict
        Seconds of every cell that was requested, as they were when it was computed, by the name
        of its files.
    """

    folder: Path
    data: Path
    device: str = "cpu"
    precision: str = "float32"
    jobs: int = 1
    progress: Progress = field(default_factory=Silent)
    stored_only: bool = False
    used: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    _results: dict[str, CellResult] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, cell: Cell) -> CellResult:
        """The result of one cell, computed if it is not stored."""
        return self.all([cell])[0]

    def all(self, cells: Sequence[Cell], phase: str = "") -> list[CellResult]:
        """The results of all cells, in their order; `phase` names the progress of missing ones."""
        missing = {cell.name: cell for cell in cells if self._stored(cell) is None}
        if missing and self.stored_only:
            raise NotFinished(
                f"{self.folder} holds no result of {len(missing)} cells, the first of which is "
                f"{next(iter(missing))}. Run: python -m cgscore_paper.background run"
            )
        if missing:
            self.folder.mkdir(parents=True, exist_ok=True)
            for cell in missing.values():
                if cell.job.alone:
                    self._compute(cell)  # it reports its own progress
            parallel = [cell for cell in missing.values() if not cell.job.alone]
            with self.progress.phase(phase or cells[0].job.name, len(parallel)) as advance:
                if self.jobs > 1 and len(parallel) > 1:
                    self._compute_in_processes(parallel, advance)
                else:
                    for cell in parallel:
                        self.quiet()._compute(cell)
                        advance(1)
        results = [self.load(cell) for cell in cells]
        self.used.update(
            (self.stem(cell), result.seconds) for cell, result in zip(cells, results, strict=True)
        )
        return results

    def finished(self, cells: Sequence[Cell], phase: str = "") -> list[CellResult]:
        """The results of all cells, or, with `stored_only`, of those that are stored."""
        if self.stored_only:
            cells = [cell for cell in cells if self._stored(cell) is not None]
        return self.all(cells, phase) if cells else []

    def load(self, cell: Cell) -> CellResult:
        """The stored result of a cell, or a `ResultError` if there is none."""
        stored = self._stored(cell)
        if stored is None:
            raise ResultError(f"{self.folder} holds no result of the cell {cell.name}.")
        return stored

    def stem(self, cell: Cell) -> str:
        """Name of a cell's files: its own, and the fingerprint of the data it may read."""
        dataset = cell.options.get("dataset")
        known = dataset if dataset in SOURCES else None
        return f"{cell.name}-{fingerprint(self.data, known)}"

    def trained_in(self, precision: str, stems: Iterable[str]) -> int:
        """How many of these cells are trainings whose steps had this precision."""
        records = [read_record(self.folder / f"{stem}.json") or {} for stem in stems]
        return sum(record.get("precision") == precision for record in records)

    @contextmanager
    def unfinished(self, cell: Cell) -> Iterator[Path]:
        """A folder for what a long cell needs to resume; removed when the block ends well."""
        folder = self.folder / "unfinished" / self.stem(cell)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        shutil.rmtree(folder)

    def quiet(self) -> Work:
        """The same folders without progress, one cell at a time."""
        return Work(self.folder, self.data, self.device, self.precision)

    def _compute_in_processes(self, cells: Sequence[Cell], advance: Advance) -> None:
        context = get_context("spawn")
        with ProcessPoolExecutor(
            self.jobs, mp_context=context, initializer=_use_one_torch_thread
        ) as pool:
            try:
                futures = [pool.submit(_compute_if_missing, self.quiet(), cell) for cell in cells]
                for _ in as_completed(futures):
                    advance(1)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for future in futures:  # the first failure, after all others are stored
            future.result()

    def _stored(self, cell: Cell) -> CellResult | None:
        if cell.name not in self._results:
            stem = self.stem(cell)
            if not (self.folder / f"{stem}.json").exists():
                return None
            result = read_result(self.folder, stem)
            if result is None:
                warnings.warn(
                    renewed(f"Cells in {self.folder}", [stem]), CGScoreWarning, stacklevel=4
                )
                (self.folder / f"{stem}.json").unlink()
                return None
            self._results[cell.name] = result
        return self._results[cell.name]

    def _compute(self, cell: Cell) -> None:
        start = time.perf_counter()
        try:
            value = cell.job(self, **cell.options)
        except CGScoreError as error:
            raise type(error)(f"{cell.job.name} {dict(cell.options)}: {error}") from error
        result = CellResult(value, time.perf_counter() - start)
        trains = cell.job.name.startswith("trained.")
        origin = {**provenance(), **({"precision": self.precision} if trains else {})}
        digest = sources.digest(cell.job.__module__)
        write_result(self.folder, self.stem(cell), cell, result, digest, origin)


def write_result(
    folder: Path,
    stem: str,
    cell: Cell,
    result: CellResult,
    digest: str,
    origin: Mapping[str, Any],
) -> None:
    """Write STEM.json, and STEM.npz if there are arrays.

    `digest` is that of the sources, `origin` says where the result comes from.
    """
    arrays = {name: v for name, v in result.value.items() if isinstance(v, np.ndarray)}
    packed = io.BytesIO()
    if arrays:
        np.savez(packed, **arrays)  # type: ignore[arg-type]
        replace_file(folder / f"{stem}.npz", lambda file: file.write(packed.getbuffer()))
    record = {
        "job": cell.job.name,
        "version": cell.job.version,
        "options": dict(cell.options),
        "sources": digest,
        **origin,
        "seconds": result.seconds,
        "value": {name: v for name, v in result.value.items() if name not in arrays},
        "arrays": sorted(arrays),
        "arrays_seal": seal(packed.getbuffer(), stem, "arrays"),
    }
    text = json.dumps({**record, "seal": _record_seal(record, stem)}, indent=1).encode()
    replace_file(folder / f"{stem}.json", lambda file: file.write(text))


def read_record(path: Path) -> dict[str, Any] | None:
    """The content of a STEM.json, or None if it is damaged or belongs to another cell."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record if record.pop("seal") == _record_seal(record, path.stem) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def read_result(folder: Path, stem: str) -> CellResult | None:
    """What `write_result` wrote, or None if that is damaged or belongs to another cell."""
    record = read_record(folder / f"{stem}.json")
    if record is None:
        return None
    try:
        value = dict(record["value"])
        if record["arrays"]:
            raw = (folder / f"{stem}.npz").read_bytes()
            if record["arrays_seal"] != seal(raw, stem, "arrays"):
                return None
            with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
                value |= {name: arrays[name] for name in record["arrays"]}
        return CellResult(value, float(record["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _record_seal(record: Mapping[str, Any], stem: str) -> int:
    return seal(json.dumps(record, sort_keys=True).encode(), stem)


def _use_one_torch_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _compute_if_missing(work: Work, cell: Cell) -> None:
    with one_blas_thread():
        if work._stored(cell) is None:
            work._compute(cell)
