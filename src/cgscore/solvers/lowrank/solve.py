"""Both passes over all rows, by threads or a cluster, with the sums in a fixed tree.

Segments of rows are tasks; they depend on n only. Sums of neighbouring segments are added in pairs,
then pairs of pairs, whatever the order in which they arrive, so that any number and kind of workers
gives the same bits. A store keeps the sums of the first pass every `SAVE_SECONDS`, and every
segment of the second.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields, replace
from typing import IO, Any, TypeVar

import numpy as np

from cgscore.errors import SingularKernelError, StorageError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor
from cgscore.execution.files import naming_failures
from cgscore.execution.progress import Progress
from cgscore.rows import Rows
from cgscore.solvers.lowrank import model
from cgscore.solvers.lowrank.model import FirstPass, Landmarks, SecondPass, Sums, Targets, Values
from cgscore.typing import Array
from cgscore.valuation import Valuation

SAVE_SECONDS = 60.0  # between two states of the first pass that are saved

R = TypeVar("R")


@dataclass(frozen=True)
class Outcome:
    """The valuation of all rows, the complexity of every class, and digits that are left."""

    valuation: Valuation
    complexity: Array
    digits: float


def solve(
    rows: Rows,
    landmarks: Landmarks,
    targets: Targets,
    *,
    executor: Executor,
    progress: Progress,
    store: StepStore | None = None,
    file: IO[bytes] | None = None,
) -> Outcome:
    """Both passes.

    Parameters
    ----------
    rows : Rows
        All of them, which are taken chunk by chunk.
    landmarks : Landmarks
        Some of them, and the ridge.
    targets : Targets
        Of all rows.
    executor : Executor
        Who does the tasks.
    store : StepStore or None
        Where finished steps are saved, and loaded from in a resumed run.
    file : file or None
        Where leave-one-out predictions go, in float32; the valuation then maps it. By default they
        are in memory, in float64.
    """
    n, p = rows.shape
    flops = model.flops(n, p, targets.k, len(landmarks))
    shared = FirstPass(rows, landmarks, targets)
    second = _first_pass(shared, executor, progress, flops / 2, store)
    second = replace(second, single=file is not None)
    parts: list[Values] = []
    with progress.phase("scores", flops / 2) as advance:
        for part in _second_pass(second, executor, store):
            if file is not None:
                with naming_failures("The temporary file of predictions"):
                    file.write(np.ascontiguousarray(part.valuation.loo).data)
                part = replace(part, valuation=replace(part.valuation, loo=part.valuation.loo[:0]))
            parts.append(part)
            advance(flops / 2 * len(part.valuation.d) / n)
    values = model.joined([part.valuation for part in parts])
    if file is not None:
        with naming_failures("The temporary file of predictions"):
            file.flush()
        mapped: Any = np.memmap(file, np.float32, "r", 0, (n, targets.k))
        values = replace(values, loo=mapped)
    if not (np.isfinite(values.d) & (values.d > 0)).all():
        raise SingularKernelError(
            "The ridge is so small that the inverse of the kernel matrix has no digits left. "
            "Use a larger one."
        )
    # d is a difference from 1 / D, of sums of as many terms as there are landmarks
    lost = np.finfo(np.float64).eps * np.sqrt(len(landmarks)) / (values.d * second.D)
    return Outcome(
        values,
        np.sum([part.complexity for part in parts], axis=0),
        float(-np.log10(lost.max())),
    )


def _first_pass(
    shared: FirstPass,
    executor: Executor,
    progress: Progress,
    flops: float,
    store: StepStore | None,
) -> SecondPass:
    """The sums over all rows, and what follows from them."""
    n = len(shared.rows)
    segments = model.segments(n)
    saved = None if store is None else store.load("first-pass")
    if saved is not None and "L" in saved:
        L, Z = np.asfortranarray(saved["L"]), saved["Z"]
        return SecondPass(shared.rows, shared.landmarks, shared.targets, saved["D"], L, Z)
    tree = Tree() if saved is None else Tree.restored(saved)
    with progress.phase("sums", flops) as advance:
        advance(flops * min(n, tree.rows()) / n, before=True)
        last = time.perf_counter()
        for sums in in_order(executor.map(model.sum_segment, shared, segments[tree.count :])):
            tree.push(sums)
            advance(flops * len(sums.D) / n)
            if store is not None and time.perf_counter() - last >= SAVE_SECONDS:
                store.save("first-pass", **tree.arrays())
                last = time.perf_counter()
        with one_blas_thread():
            second = model.between_passes(shared, tree.total())
    if store is not None:
        store.save("first-pass", L=second.L, Z=second.Z, D=second.D)
    return second


def _second_pass(
    shared: SecondPass, executor: Executor, store: StepStore | None
) -> Iterator[Values]:
    """What every segment is worth, in order."""
    segments = model.segments(len(shared.rows))
    # looked at now and loaded in turn: all of them at once may be more than memory holds
    missing = [number for number in range(len(segments)) if _saved(store, number) is None]
    computed = in_order(
        executor.map(model.value_segment, shared, [segments[number] for number in missing])
    )
    for number in range(len(segments)):
        values = next(computed) if number in missing else _saved(store, number)
        if values is None:
            raise StorageError("A part of the checkpoint was removed while it was in use.")
        if store is not None and number in missing:
            store.save(f"segment-{number}", complexity=values.complexity, **vars(values.valuation))
        yield values


def _saved(store: StepStore | None, number: int) -> Values | None:
    """A segment of an earlier run."""
    arrays = None if store is None else store.load(f"segment-{number}")
    if arrays is None:
        return None
    names = [field.name for field in fields(Valuation)]
    return Values(Valuation(**{name: arrays[name] for name in names}), arrays["complexity"])


def in_order(results: Generator[tuple[int, R]]) -> Iterator[R]:
    """Results in the order of their items."""
    early: dict[int, R] = {}
    expected = 0
    for position, result in results:
        early[position] = result
        while expected in early:
            yield early.pop(expected)
            expected += 1


class Tree:
    """Sums of segments, added in pairs of equal size.

    Attributes
    ----------
    count : int
        Segments that are in it.
    """

    def __init__(self) -> None:
        self.count = 0
        self._stack: list[tuple[int, Sums]] = []  # sizes fall: 4, 2, 1 of seven segments

    def push(self, sums: Sums) -> None:
        """Add the next segment."""
        self.count += 1
        size = 1
        while self._stack and self._stack[-1][0] == size:
            sums = model.add(self._stack.pop()[1], sums)
            size *= 2
        self._stack.append((size, sums))

    def rows(self) -> int:
        """Rows that are in it."""
        return sum(len(sums.D) for _, sums in self._stack)

    def total(self) -> Sums:
        """The sum of all, which uses the tree up."""
        _, total = self._stack.pop()
        while self._stack:
            total = model.add(self._stack.pop()[1], total)
        return total

    def arrays(self) -> dict[str, Any]:
        """What a store saves."""
        content: dict[str, Any] = {"sizes": np.array([size for size, _ in self._stack])}
        for size, sums in self._stack:
            content |= {f"{name}-{size}": value for name, value in vars(sums).items()}
        return content

    @classmethod
    def restored(cls, arrays: dict[str, Any]) -> Tree:
        """The tree of which `arrays` were saved."""
        tree = cls()
        for size in arrays["sizes"].tolist():
            content = {field.name: arrays[f"{field.name}-{size}"] for field in fields(Sums)}
            content["negative"] = np.asfortranarray(content["negative"])
            tree._stack.append((size, Sums(**content)))
        tree.count = int(arrays["sizes"].sum())
        return tree
