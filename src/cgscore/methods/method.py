"""The contract that every method keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cgscore.errors import OptionError
from cgscore.execution.executor import ClusterExecutor
from cgscore.execution.progress import Timed
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.options import Options
from cgscore.problem import Problem, Solution


@dataclass(frozen=True)
class Context:
    """Where a method runs: who is told of its progress, and a cluster if there is one."""

    progress: Timed
    cluster: ClusterExecutor | None = None


class Method(Protocol):
    """A way to score; `cgscore.methods.METHODS` has them all.

    Attributes
    ----------
    name : str
        What users call it by.
    accepts : frozenset of str
        Options beyond those that all methods take, and ``"client"`` if it runs on clusters.
    keeps : str
        What a checkpoint of it serves afterwards.
    streams : bool
        Whether it takes inputs chunk by chunk, so that they need not fit in memory.
    """

    name: str
    accepts: frozenset[str]
    keeps: str
    streams: bool

    def cost(self, sizes: Sizes, options: Options, workers: int) -> Cost:
        """What it would take, by this machine or so many workers."""
        ...

    def run(self, problem: Problem, options: Options, context: Context) -> Solution:
        """Score."""
        ...


def reject_unused_options(method: Method, options: Options, *, cluster: bool) -> None:
    """Raise `OptionError` for an option that the method does not take."""
    unused = [
        f"{name}={value!r}"
        for name, value in options.changed().items()
        if name not in method.accepts
    ]
    if cluster and "client" not in method.accepts:
        unused.append("A cluster")
    if unused:
        raise OptionError(f"{unused[0]} has no effect on method={method.name!r}. Leave it out.")
