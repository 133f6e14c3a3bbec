"""What ``import cgscore`` offers: score, factor, complexity. Owns no mathematics."""

from __future__ import annotations

import os
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from cgscore.data import Dataset, read
from cgscore.errors import ConvergenceError, DataError, LabelError, OptionError, SingularKernelError
from cgscore.execution.checkpoint import method_in
from cgscore.execution.executor import ClusterExecutor, Local
from cgscore.execution.machine import parse_bytes
from cgscore.execution.progress import Listener, reporter
from cgscore.factorisation import Factor
from cgscore.kernel import unit_rows
from cgscore.labels import TASKS, Labels, as_labels
from cgscore.methods.auto import choose, choose_on, instead_of_iterative
from cgscore.methods.averaging import score_averaged
from cgscore.methods.iterative import score_iteratively
from cgscore.result.scores import Scores
from cgscore.solvers.ridge_search import least_error, sampled

CHOICES = {
    "method": ("auto", "exact", "iterative", "subsample", "partition"),
    "task": TASKS,
    "dtype": ("float64", "float32"),
    "duplicates": ("merge", "error"),
}

#: Options that a method takes beyond those that all take.
_HEEDS = {
    "exact": ("dtype", "checkpoint"),
    "iterative": ("target", "checkpoint", "device", "client"),
    "subsample": ("ratio", "runs", "checkpoint", "client"),
    "partition": ("runs", "checkpoint", "client"),
}

_DEFAULTS = {
    "ratio": 4,
    "runs": None,
    "target": None,
    "device": "cpu",
    "client": None,
    "dtype": "float64",
    "checkpoint": None,
}


def score(
    data: Any,
    y: ArrayLike | None = None,
    *,
    method: str = "auto",
    ridge: float | str = 0.0,
    ratio: float = 4,
    runs: int | None = None,
    target: float | None = None,
    task: str = "classification",
    dtype: str = "float64",
    seed: int = 0,
    memory_limit: int | float | str | None = None,
    device: str = "cpu",
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    duplicates: str = "merge",
    progress: bool | Listener | None = None,
) -> Scores:
    """The score of every example of a labelled dataset.

    Parameters
    ----------
    data : array, data frame, path or Dataset
        One example per row, or anything that `cgscore.read` understands. Arrays are taken as they
        are; every row is scaled to unit norm.
    y : (n,) array, optional
        Labels: whole numbers, text, booleans or +1/-1. Not needed where the data hold them.
    method : {"auto", "exact", "iterative", "subsample", "partition"}
        How to solve. ``exact`` factorises the whole kernel matrix. ``iterative`` is nearly exact at
        a fraction of the cost, and ``meta["audit"]`` says how nearly. ``subsample`` is the paper's
        estimator: each class against random samples of the others. ``partition`` scores random
        blocks, for data that fit nowhere else. ``auto`` takes ``exact`` where that takes a minute
        or so, ``iterative`` where it is cheaper and fits, and ``partition`` where neither does.
    ridge : float or "auto"
        Added to the diagonal of the kernel matrix. 0 is the paper's score; ``"auto"`` is the one
        with the least leave-one-out error on a sample, which finds wrong labels best.
    target : float, optional
        For ``iterative``: the rank correlation with the exact score that the audit must show;
        stronger settings are taken until it does.
    device : str
        For ``iterative``: ``"cuda"``, ``"mps"`` or another device of torch does the products.
    ratio : float
        For ``subsample``: others that are drawn for each example of a class.
    runs : int, optional
        For ``subsample`` and ``partition``: repetitions that are averaged. By default, for the
        first what the paper recommends (`cgscore.solvers.sampled.subsample`), for the second 2.
    client : distributed.Client, optional
        A Dask cluster that does the work, for every method but ``exact``.
    task : {"classification", "regression"}
        Whether labels are classes or numbers.
    dtype : {"float64", "float32"}
        Precision of the arithmetic. ``float32`` takes about half the memory and time; what it
        costs in precision is measured on a sample and stands in ``meta["loss"]``.
    seed : int
        For methods that draw random numbers; ``exact`` draws none.
    memory_limit : int or str, optional
        Bytes that scoring may use above the data, or a text such as ``"4GB"``; by default what
        the machine has. What does not fit in memory is kept on disk.
    checkpoint : path, optional
        A folder, made if missing, in which finished work is kept: an interrupted run that is
        started again goes on from there and ends with the same bits. The folder stays afterwards
        and serves, with ``exact``, any other labels of the same inputs (about 4 n^2 bytes); with
        ``subsample`` and ``partition``, more runs.
    duplicates : {"merge", "error"}
        Whether identical rows are scored as one (without a ridge) or refused.
    progress : bool or function, optional
        ``True`` draws bars, ``False`` is silent, a function receives the phase and the fraction
        done. By default bars are drawn if standard error is a terminal.

    Returns
    -------
    Scores

    Raises
    ------
    CGScoreError
        Inputs, labels or options that cannot be used; see `cgscore.errors`.

    Examples
    --------
    >>> import cgscore
    >>> s = cgscore.score("sklearn:digits")
    >>> round(s.accuracy(), 3)
    0.992
    """
    check_options(method=method, ridge=ridge, task=task, dtype=dtype, duplicates=duplicates)
    check_numbers(ratio=ratio, runs=runs, seed=seed)
    seed, runs = int(seed), None if runs is None else int(runs)  # numpy's are not JSON
    cluster = None if client is None else _cluster(client)
    if client is not None and device != "cpu":
        raise OptionError("client and device cannot be combined: give one of them.")
    dataset, labels = _labelled(data, y)
    classes = as_labels(labels, len(dataset), task).classes  # a mistake shows before the long work
    ridge, chosen = _settled_ridge(ridge, dataset, task, seed)
    choice: dict[str, Any] | None = None
    begun = method_in(Path(checkpoint)) if checkpoint is not None else None
    if method == "auto" and begun in _HEEDS:  # an interrupted run goes on with what it chose
        choice = {"method": begun, "why": "the checkpoint holds it"}
        method = choice["method"]
    elif method == "auto" and cluster is not None:
        choice = choose_on(cluster, *dataset.shape, dtype)
        method = choice["method"]
    elif method == "auto":
        choice = choose(*dataset.shape, max(1, len(classes)), memory_limit, dtype, device)
        method = choice["method"]
    if choice is not None and method == "exact":
        client = None  # nobody asked for exact scores on a cluster
    asked = {
        "ratio": ratio,
        "runs": runs,
        "target": target,
        "device": device,
        "client": client,
        "dtype": dtype,
        "checkpoint": checkpoint,
    }
    for name, value in asked.items():
        if name not in _HEEDS[method] and value != _DEFAULTS[name]:
            given = "A cluster" if name == "client" else f"{name}={value!r}"
            raise OptionError(f"{given} has no effect on method={method!r}. Leave it out.")
    scores: Scores | None = None
    if method == "iterative":
        try:
            scores = score_iteratively(
                dataset,
                ridge=ridge,
                task=task,
                seed=seed,
                target=target,
                duplicates=duplicates,
                memory_limit=memory_limit,
                device=device,
                checkpoint=checkpoint,
                progress=reporter(progress),
                executor=cluster,
            )
        except (ConvergenceError, SingularKernelError) as error:
            if choice is None:
                raise
            choice = instead_of_iterative(error, *dataset.shape, memory_limit)
            if checkpoint is not None:  # the folder itself holds the iterative work
                checkpoint = Path(checkpoint) / "exact"
    elif method in ("subsample", "partition"):
        limit = None if memory_limit is None else parse_bytes(memory_limit)
        scores = score_averaged(
            dataset,
            method=method,
            ridge=ridge,
            task=task,
            seed=seed,
            ratio=ratio,
            runs=runs,
            duplicates=duplicates,
            memory_limit=memory_limit,
            executor=cluster or Local(limit),
            checkpoint=checkpoint,
            progress=reporter(progress),
        )
    if scores is None:
        made = factor(
            dataset,
            ridge=ridge,
            dtype=dtype,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            duplicates=duplicates,
            progress=progress,
        )
        try:
            scores = made.score(task=task)
        finally:
            made.close()
    scores.meta |= {"seed": seed, "choice": choice, "ridge_choice": chosen}
    return scores


def _settled_ridge(
    ridge: float | str, dataset: Dataset, task: str, seed: int
) -> tuple[float, dict[str, Any] | None]:
    """The ridge as a number, and how it was found if that was asked for."""
    if not isinstance(ridge, str):
        return float(ridge), None
    if dataset.y is None:
        raise LabelError("ridge='auto' needs labels: give y, one label per example.")
    labels = as_labels(dataset.y, len(dataset), task)
    some = sampled(len(dataset), seed)
    part = Labels(labels.values[some], labels.classes, labels.codes[some])
    try:
        rows = unit_rows(dataset.X[some])
    except DataError:
        unit_rows(dataset.X)  # which says where among all rows it is
        raise
    found = least_error(rows, part.targets())
    return found.ridge, vars(found).copy()


def factor(
    X: Any,
    *,
    ridge: float | str = 0.0,
    dtype: str = "float64",
    memory_limit: int | float | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    duplicates: str = "merge",
    progress: bool | Listener | None = None,
) -> Factor:
    """The factorised kernel matrix of X, with which any labelling is scored quickly.

    Parameters are those of `score`.
    """
    check_options(ridge=ridge, dtype=dtype, duplicates=duplicates)
    dataset = read(X)
    return Factor(
        dataset,
        ridge=_settled_ridge(ridge, dataset, "classification", 0)[0],
        duplicates=duplicates,
        memory_limit=memory_limit,
        progress=reporter(progress),
        dtype=dtype,
        checkpoint=checkpoint,
    )


def check_options(*, ridge: object = 0.0, **choices: str) -> None:
    """Raise `OptionError` for a value that does not exist; each choice is one of `CHOICES`."""
    for name, value in choices.items():
        if value not in CHOICES[name]:
            known = ", ".join(CHOICES[name])
            raise OptionError(f"{name}={value!r} is not known. Choose one of: {known}.")
    if ridge == "auto":
        return
    number = float(ridge) if isinstance(ridge, Real) and not isinstance(ridge, bool) else -1.0
    if not 0 <= number < float("inf"):
        raise OptionError(
            f"ridge={ridge!r} makes no sense. Expected a number, 0 or larger, or 'auto'."
        )


def check_numbers(*, ratio: object, runs: object, seed: object) -> None:
    """Raise `OptionError` for numbers that make no sense."""
    if isinstance(ratio, bool) or not (isinstance(ratio, Real) and 0 < float(ratio) < 1e9):
        raise OptionError(f"ratio={ratio!r} makes no sense. Expected a positive number.")
    for name, value, least in (("runs", runs, 1), ("seed", seed, 0)):
        if name == "runs" and value is None:
            continue
        if isinstance(value, bool) or not (isinstance(value, Integral) and int(value) >= least):
            raise OptionError(
                f"{name}={value!r} makes no sense. Expected a whole number, {least} or larger."
            )


def _cluster(client: Any) -> ClusterExecutor:
    """The cluster of a Dask client."""
    try:
        from cgscore.execution.dask import Cluster
    except ModuleNotFoundError as error:
        raise OptionError(
            'client= needs dask.distributed. Install it: pip install "cgscore[dask]"'
        ) from error
    return Cluster(client)


def complexity(
    X: Any, y: ArrayLike | None = None, *, ridge: float = 0.0, task: str = "classification"
) -> dict[Any, float]:
    """``y^T H^-1 y`` of every class; under ``"target"`` for regression."""
    dataset, labels = _labelled(X, y)
    return factor(dataset, ridge=ridge).complexity(labels, task=task)


def _labelled(data: Any, y: ArrayLike | None) -> tuple[Dataset, NDArray[Any]]:
    dataset = read(data, labels=y)
    if dataset.y is None:
        raise LabelError("No labels: give y, one label per example.")
    return dataset, dataset.y
