"""Both passes over all rows, by threads or a cluster, with the sums in a fixed tree.

Rows are taken in an order that puts similar ones into the same block (`blocks.py`), and results are
put back into theirs. Segments of rows are tasks; they depend on n only. Sums of neighbouring
segments are added in pairs, then pairs of pairs, whatever the order in which they arrive, so that
any number and kind of workers gives the same bits. Workers of a cluster add pairs of their own
before they send them (`segments_together`). A store keeps the order, the sums of the first pass
every `SAVE_SECONDS`, and every segment of the second.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import IO, Any

import numpy as np

from cgscore.errors import SingularKernelError, StorageError
from cgscore.execution.blas import one_blas_thread
from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor, in_order
from cgscore.execution.files import naming_failures
from cgscore.execution.progress import Progress
from cgscore.rows import Rows
from cgscore.solvers.lowrank import model
from cgscore.solvers.lowrank.blocks import Blocks, similar_blocks
from cgscore.solvers.lowrank.model import FirstPass, Landmarks, SecondPass, Sums, Targets, Values
from cgscore.typing import Array, Index
from cgscore.valuation import Valuation

#: Tasks for every worker of a cluster, at least, so that they end at about the same time, and
#: segments of one of them, at most: the more, the less is sent and the more memory a task takes.
MIN_TASKS, MAX_TOGETHER = 8, 8
SAVE_SECONDS = 60.0  # between two states of the first pass that are saved


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
    seed: int = 0,
    store: StepStore | None = None,
    file: IO[bytes] | None = None,
    together: int = 1,
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
    seed : int
        Seed of the sample that decides on the order of the rows.
    store : StepStore or None
        Where finished steps are saved, and loaded from in a resumed run.
    file : file or None
        Where leave-one-out predictions go, in float32; the valuation then maps it. By default they
        are in memory, in float64.
    together : int
        Segments of a task of the first pass, at most: a power of two (`segments_together`).
    """
    n, p = rows.shape
    flops = model.flops(n, p, targets.k, len(landmarks))
    with progress.phase("blocks", 0.0):
        blocks = _blocks(rows, seed, executor, store)
    shared = FirstPass(rows, blocks, landmarks, targets)
    second = _first_pass(shared, executor, progress, flops / 2, store, together)
    second = replace(second, single=file is not None)
    parts: list[Values] = []
    segments = blocks.segments()
    with progress.phase("scores", flops / 2) as advance:
        for segment, part in zip(segments, _second_pass(second, executor, store), strict=True):
            if file is not None:
                _write_rows(file, part.valuation.loo, blocks.order[blocks.rows(segment)])
                part = replace(part, valuation=replace(part.valuation, loo=part.valuation.loo[:0]))
            parts.append(part)
            advance(flops / 2 * len(part.valuation.d) / n)
    values = _restored(model.joined([part.valuation for part in parts]), blocks.order)
    if file is not None:
        mapped: Any = np.memmap(file, np.float32, "r", 0, (n, targets.k))
        values = replace(values, loo=mapped)
    if not (np.isfinite(values.d) & (values.d > 0)).all():
        raise SingularKernelError(
            "The ridge is so small that the inverse of the kernel matrix has no digits left. "
            "Use a larger one."
        )
    # d is a difference of sums of as many terms as there are landmarks
    lost = max(part.loss for part in parts) * np.finfo(np.float64).eps * np.sqrt(len(landmarks))
    return Outcome(
        values, np.sum([part.complexity for part in parts], axis=0), float(-np.log10(lost))
    )


def _blocks(rows: Rows, seed: int, executor: Executor, store: StepStore | None) -> Blocks:
    """Blocks of similar rows, which an earlier run may have saved."""
    saved = None if store is None else store.load("blocks")
    if saved is not None:
        return Blocks(saved["order"], tuple(saved["ends"].tolist()))
    blocks = similar_blocks(rows, seed=seed, executor=executor)
    if store is not None:
        store.save("blocks", order=blocks.order, ends=np.array(blocks.ends))
    return blocks


def _write_rows(file: IO[bytes], loo: Array, positions: Index) -> None:
    """Put predictions where the rows at these positions have theirs."""
    with naming_failures("The temporary file of predictions"):
        for position, row in zip(positions.tolist(), np.ascontiguousarray(loo), strict=True):
            file.seek(position * row.nbytes)
            file.write(row.data)
        file.flush()


def _restored(values: Valuation, order: Index) -> Valuation:
    """The valuation of rows in their own order; predictions may be elsewhere."""
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    arrays = {field.name: getattr(values, field.name) for field in fields(Valuation)}
    return Valuation(
        **{name: array[back] if len(array) else array for name, array in arrays.items()}
    )


def _first_pass(
    shared: FirstPass,
    executor: Executor,
    progress: Progress,
    flops: float,
    store: StepStore | None,
    together: int,
) -> SecondPass:
    """The sums over all rows, and what follows from them."""
    n, segments = len(shared.rows), shared.blocks.segments()
    saved = None if store is None else store.load("first-pass")
    if saved is not None and "L" in saved:
        L, Z = np.asfortranarray(saved["L"]), saved["Z"]
        return SecondPass(shared.rows, shared.blocks, shared.landmarks, shared.targets, L, Z)
    tree = Tree() if saved is None else Tree.restored(saved)
    with progress.phase("sums", flops) as advance:
        advance(flops * min(n, tree.rows()) / n, before=True)
        last = time.perf_counter()
        groups = _groups(segments, tree.count, together)
        results = in_order(executor.map(model.sum_segments, shared, groups))
        for group, sums in zip(groups, results, strict=True):
            tree.push(sums, len(group))
            advance(flops * sums.rows / n)
            if store is not None and time.perf_counter() - last >= SAVE_SECONDS:
                store.save("first-pass", **tree.arrays())
                last = time.perf_counter()
        with one_blas_thread():
            second = model.between_passes(shared, tree.total())
    if store is not None:
        store.save("first-pass", L=second.L, Z=second.Z)
    return second


def segments_together(segments: int, workers: int) -> int:
    """How many segments are one task of the first pass on a cluster: a power of two."""
    together = 1
    while together < MAX_TOGETHER and segments // (2 * together) >= MIN_TASKS * workers:
        together *= 2
    return together


def _groups(segments: Sequence[slice], first: int, together: int) -> list[Sequence[slice]]:
    """Segments from the `first` on, as parts of the tree of at most so many."""
    groups = []
    while first < len(segments):
        size = together
        while first % size or first + size > len(segments):
            size //= 2
        groups.append(segments[first : first + size])
        first += size
    return groups


def _second_pass(
    shared: SecondPass, executor: Executor, store: StepStore | None
) -> Iterator[Values]:
    """What every segment is worth, in order."""
    segments = shared.blocks.segments()
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
            arrays = {"complexity": values.complexity, "loss": np.array(values.loss)}
            store.save(f"segment-{number}", **arrays, **vars(values.valuation))
        yield values


def _saved(store: StepStore | None, number: int) -> Values | None:
    """A segment of an earlier run."""
    arrays = None if store is None else store.load(f"segment-{number}")
    if arrays is None:
        return None
    names = [field.name for field in fields(Valuation)]
    values = Valuation(**{name: arrays[name] for name in names})
    return Values(values, arrays["complexity"], float(arrays["loss"]))


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

    def push(self, sums: Sums, size: int = 1) -> None:
        """Add the next segment, or the sums of so many that are a part of the tree."""
        self.count += size
        while self._stack and self._stack[-1][0] == size:
            sums = model.add(self._stack.pop()[1], sums)
            size *= 2
        self._stack.append((size, sums))

    def rows(self) -> int:
        """Rows that are in it."""
        return sum(sums.rows for _, sums in self._stack)

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
            content |= {f"{name}-{size}": np.array(value) for name, value in vars(sums).items()}
        return content

    @classmethod
    def restored(cls, arrays: dict[str, Any]) -> Tree:
        """The tree of which `arrays` were saved."""
        tree = cls()
        for size in arrays["sizes"].tolist():
            content = {field.name: arrays[f"{field.name}-{size}"] for field in fields(Sums)}
            content["negative"] = np.asfortranarray(content["negative"])
            content["rows"] = int(content["rows"])
            tree._stack.append((size, Sums(**content)))
        tree.count = int(arrays["sizes"].sum())
        return tree
