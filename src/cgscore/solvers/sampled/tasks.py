"""Many tasks, any workers, one order: results as if the tasks had been done one after the other.

Finished tasks are given to a keeper as they come; those it has are not done again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from typing import Protocol, TypeVar

from cgscore.execution.checkpoint import StepStore
from cgscore.execution.executor import Executor
from cgscore.execution.progress import Progress
from cgscore.solvers.sampled.subset import SharedProblem, Solved


class Task(Protocol):
    """A part of the work that is independent of the others."""

    @property
    def name(self) -> str:
        """The name under which its result is saved."""
        ...

    @property
    def flops(self) -> float:
        """Its cost."""
        ...


T = TypeVar("T", bound=Task)


def in_order(
    tasks: Sequence[T],
    function: Callable[[SharedProblem, T], Solved],
    problem: SharedProblem,
    executor: Executor,
    store: StepStore | None,
    progress: Progress,
) -> Generator[Solved]:
    """Results in the order of the tasks.

    Results that finish early wait in memory, or on disk if there is a `store`. Closing the
    generator cancels running tasks.
    """
    ready: dict[int, Solved | None] = {}  # None: to be loaded
    with ExitStack() as stack:
        advance = stack.enter_context(progress.phase("tasks", sum(task.flops for task in tasks)))
        if store:
            for number, task in enumerate(tasks):
                if store.load(task.name) is not None:
                    ready[number] = None
                    advance(task.flops, before=True)
        missing = [number for number in range(len(tasks)) if number not in ready]
        done, start, following = len(ready), time.perf_counter(), 0
        results = executor.map(function, problem, [tasks[number] for number in missing])
        stack.callback(results.close)
        while following < len(tasks):
            while following in ready:
                yield _load_if_saved(ready.pop(following), store, tasks[following].name)
                following += 1
            if following == len(tasks):
                break
            position, solved = next(results)
            number = missing[position]
            task = tasks[number]
            ready[number] = solved
            if store:
                store.save(task.name, **vars(solved))
                ready[number] = None if number != following else solved
            done += 1
            rate = (done - len(tasks) + len(missing)) / (time.perf_counter() - start)
            note = f"{done:,} of {len(tasks):,} tasks, {rate:.2g}/s, {executor.workers()} workers"
            advance(task.flops, note=note)


def _load_if_saved(solved: Solved | None, store: StepStore | None, name: str) -> Solved:
    if solved is not None:
        return solved
    arrays = store.load(name) if store else None
    if arrays is None:
        raise RuntimeError(f"{name} was saved and can no longer be loaded")
    return Solved(**arrays)
