"""Jobs, the functions whose results are stored, and cells, single calls of them.

A job is a function with a name and a version that do not follow from where it is defined:

>>> @job("trained.accuracy", version=1, sample={"dataset": "cifar-10"})  # doctest: +SKIP
... def accuracy(work, dataset): ...
>>> cell = accuracy.cell(dataset="cifar-10")                              # doctest: +SKIP
>>> work(cell)["accuracy"]                                                # doctest: +SKIP

A cell is identified by the job's name, its version and the settings: the options of the call, and
the sizes of the plan if they name one. Neither the version of cgscore nor the path of a module is
part of it, so code can move and be released without results being computed again.

**Raise the version** when a change of the code changes results. `check_jobs` tells whether it does,
and a test fails for a job whose sources changed while neither was done.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import cgscore_paper
from cgscore_paper.plans import Plan

Function = Callable[..., dict[str, Any]]


class Job:
    """A function ``function(work, **options)`` that returns numbers, texts and arrays by name.

    It may ask `work`, a `cells.Work`, for the results of other cells.

    Attributes
    ----------
    name : str
        Stable, unique, and part of the names of files.
    version : int
        Raised when results change.
    alone : bool
        Whether it uses all cores; other jobs run in parallel with one thread each.
    sample : mapping
        Options of a small call on `samples.write_sample_data`, by which `check_jobs` compares
        results before and after a change.
    tolerance : float or None
        Largest difference of two results that count as equal, relative to the largest number;
        processors round differently. None compares names and shapes only.
    """

    def __init__(
        self,
        function: Function,
        name: str,
        version: int,
        alone: bool,
        sample: Mapping[str, Any],
        tolerance: float | None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.version = version
        self.alone = alone
        self.sample = sample
        self.tolerance = tolerance

    def __call__(self, work: Any, **options: Any) -> dict[str, Any]:
        """The result, computed and not stored."""
        return self.function(work, **options)

    def __reduce__(self) -> str:
        """Pickle as the global name that the decorated function has in its module."""
        return self.__qualname__

    def cell(self, **options: Any) -> Cell:
        """The call with these options, which must be what JSON can write."""
        return Cell(self, options)

    __qualname__: str


def job(
    name: str,
    *,
    version: int,
    sample: Mapping[str, Any],
    alone: bool = False,
    tolerance: float | None = 1e-6,
) -> Callable[[Function], Job]:
    """Decorate a function as a `Job`."""
    return lambda function: Job(function, name, version, alone, sample, tolerance)


@dataclass(frozen=True)
class Cell:
    """A job and the options of one call."""

    job: Job
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The job's name and a digest of its version and the settings."""
        plan = str(self.options.get("plan", ""))
        sizes = Plan.named(plan).sizes if plan else None
        key = json.dumps([self.job.name, self.job.version, self.options, sizes], sort_keys=True)
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        return f"{self.job.name.replace('.', '-')}-{digest}"


def all_jobs() -> dict[str, Job]:
    """Every job of this package by name."""
    jobs: dict[str, Job] = {}
    for entry in pkgutil.iter_modules(cgscore_paper.__path__):
        module = importlib.import_module(f"cgscore_paper.{entry.name}")
        for value in vars(module).values():
            if isinstance(value, Job) and value.__module__ == module.__name__:
                if value.name in jobs:
                    raise RuntimeError(f"two jobs have the name {value.name!r}")
                jobs[value.name] = value
    return jobs
