"""What ``import cgscore`` offers: score, factor, complexity. Owns no mathematics.

`score` is a straight walk: read, check, choose a ridge and a method, run it, assemble the result.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.data import Dataset, read
from cgscore.data.annotations import Annotations
from cgscore.errors import (
    ConvergenceError,
    LabelError,
    MemoryLimitError,
    OptionError,
    SingularKernelError,
    StorageError,
)
from cgscore.execution.executor import ClusterExecutor
from cgscore.execution.progress import Listener, Named, Timed, reporter
from cgscore.factorisation import Factor
from cgscore.issues.annotators import Agreement, agree
from cgscore.kernel import unit_rows
from cgscore.labels import Labels, as_labels, no_labels
from cgscore.methods import METHODS
from cgscore.methods.auto import Choice, choose, instead_of_iterative
from cgscore.methods.cost import Sizes
from cgscore.methods.method import Context, reject_unused_options
from cgscore.methods.options import Options, check_choice
from cgscore.problem import Inputs, Judgement, Problem, Solution
from cgscore.result.assembly import assemble
from cgscore.result.scores import Scores
from cgscore.solvers.ridge_search import RidgeChoice, least_error, ridge_sample
from cgscore.typing import Array


def score(
    data: Any,
    y: ArrayLike | str | None = None,
    *,
    label_column: str | None = None,
    image_column: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    drop: str | Sequence[str] | None = None,
    source_column: Any = None,
    group_column: Any = None,
    annotator_columns: str | Sequence[str] | None = None,
    split: str | None = None,
    resize: str | int | Sequence[int] | None = None,
    skip_bad: bool = False,
    max_columns: int | None = None,
    preprocess: str = "auto",
    encoder: str | os.PathLike[str] | None = None,
    scaling: str = "none",
    method: str = "auto",
    ridge: float | str = 0.0,
    ratio: float = 4,
    runs: int | None = None,
    landmarks: int | None = None,
    keep_predictions: bool | None = None,
    target: float | None = None,
    kernel: str = "relu",
    task: str = "auto",
    dtype: str = "float64",
    seed: int = 0,
    memory_limit: int | float | str | None = None,
    device: str = "cpu",
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    duplicates: str = "merge",
    judge: bool = True,
    progress: bool | Listener | None = None,
) -> Scores:
    """The score of every example of a labelled dataset.

    Parameters
    ----------
    data : array, data frame, path or Dataset
        One example per row, or anything that `cgscore.read` understands. Arrays are taken as they
        are; every row is scaled to unit norm.
    y : (n,) array or str, optional
        Labels: whole numbers, text, booleans or +1/-1. Not needed where the data hold them. A text
        is the name of the column that holds them, as `label_column` is.
    label_column, image_column, text_column, id_column, drop, split, resize, skip_bad, \
max_columns, preprocess, encoder, scaling
        How the data are read, as for `cgscore.read`.
    source_column, group_column : str or (n,) array, optional
        Who or what delivered each label, and the group of each example, as for `cgscore.read`:
        columns ``source`` and ``group`` of the table, for `Scores.sources` and `Scores.groups`.
    annotator_columns : str or list of str, optional
        Several labels per example, as for `cgscore.read`. What is scored is the consensus of
        annotators and inputs (`cgscore.issues.annotators`), and `Scores.annotators` says how
        reliable each annotator is.
    method : {"auto", "exact", "iterative", "subsample", "lowrank", "partition"}
        How to solve. ``exact`` factorises the whole kernel matrix. ``iterative`` is nearly exact at
        a fraction of the cost, and ``meta["audit"]`` says how nearly. ``subsample`` is the paper's
        estimator: each class against random samples of the others. ``lowrank`` lets some rows,
        the landmarks, stand for all; it needs a ridge and takes inputs chunk by chunk.
        ``partition`` scores random blocks, for data that fit nowhere else. ``auto`` uses
        ``exact`` if that takes a minute at most, otherwise the faster of ``exact`` and
        ``iterative`` that fits in memory. If neither fits, it uses ``lowrank`` if there is a ridge
        (as there is for judging labels), otherwise ``exact`` on disk, or ``partition``.
    ridge : float or "auto"
        Added to the diagonal of the kernel matrix. 0 is the paper's score; ``"auto"`` is the one
        with the least leave-one-out error on a sample, which suits finding wrong labels. With 0,
        labels are judged with the automatic one (`judge`).
    target : float, optional
        For ``iterative``: the rank correlation with the exact score that the audit must show;
        stronger settings are taken until it does.
    device : str
        For ``iterative``: ``"cuda"``, ``"mps"`` or another device of torch does the products.
    ratio : float
        For ``subsample``: examples of other classes drawn for each example of a class.
    runs : int, optional
        For ``subsample`` and ``partition``: repetitions that are averaged. By default, for the
        first what the paper recommends (`cgscore.solvers.sampled.subsample`), for the second 2.
    landmarks : int, optional
        For ``lowrank``: number of landmarks; 4,000 by default. Time and memory grow with its
        square.
    keep_predictions : bool, optional
        For ``lowrank``: whether `Scores.loo` is kept. By default, it is kept if there are at
        most 2e8 predictions (examples times classes). Otherwise they are in a temporary file while
        labels are judged, and the result has the predicted label, the margin and the verdicts.
    client : distributed.Client, optional
        A Dask cluster that does the work, for every method but ``exact``.
    kernel : str
        ``"relu"`` is the paper's. Others are experiments (`cgscore.kernel.KERNELS`).
    task : {"auto", "classification", "regression"}
        Whether labels are classes or numbers. ``auto`` takes them for numbers if they have
        fractions, or are whole numbers with more than 100 distinct values that are more than a
        tenth of the examples; ``meta["task_reason"]`` says why.
    dtype : {"float64", "float32"}
        Precision of the arithmetic. ``float32`` takes about half the memory and time; what it
        costs in precision is measured on a sample and stored in ``meta["loss"]``.
    seed : int
        For methods that draw random numbers; ``exact`` draws none.
    memory_limit : int or str, optional
        Bytes that scoring may use above the data, or a text such as ``"4GB"``; by default what
        the machine has. What does not fit in memory is kept on disk.
    checkpoint : path, optional
        A folder, made if missing, in which finished work is kept: an interrupted run that is
        started again continues from there and gives the same bits. The folder is kept and can be
        reused: with ``exact`` for any other labels of the same inputs (about 4 n^2 bytes), with
        ``subsample`` and ``partition`` for more runs.
    duplicates : {"merge", "error"}
        Whether identical rows are scored as one (without a ridge) or refused.
    judge : bool
        With ridge 0, solve once more with the automatic ridge, by which `Scores.label_issues`,
        the report and the review then judge labels; ``meta["judge"]`` says how. The table and
        `Scores.loo` are those of ridge 0. False leaves it out, and labels are judged at ridge 0.
        Numbers are judged by a solution of their own with any ridge, centred on their median.
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
    start = time.perf_counter()
    check_choice("method", method, ("auto", *METHODS))
    options = Options.checked(
        ridge=ridge,
        kernel=kernel,
        task=task,
        duplicates=duplicates,
        seed=seed,
        memory_limit=memory_limit,
        dtype=dtype,
        checkpoint=checkpoint,
        target=target,
        device=device,
        ratio=ratio,
        runs=runs,
        landmarks=landmarks,
        keep_predictions=keep_predictions,
    )
    cluster = None if client is None else _cluster(client)
    if cluster is not None and device != "cpu":
        raise OptionError("client and device cannot be combined: give one of them.")
    if isinstance(y, str):
        if label_column not in (None, y):
            raise OptionError(
                f"y={y!r} and label_column={label_column!r} name two columns. Give one of them."
            )
        y, label_column = None, y
    dataset = read(
        data,
        labels=y,
        label_column=label_column,
        image_column=image_column,
        text_column=text_column,
        id_column=id_column,
        drop=drop,
        source_column=source_column,
        group_column=group_column,
        annotator_columns=annotator_columns,
        split=split,
        resize=resize,
        skip_bad=skip_bad,
        max_columns=max_columns,
        preprocess=preprocess,
        encoder=encoder,
        scaling=scaling,
        device=device,
        progress=progress,
    )
    context = Context(Timed(reporter(progress)), cluster)
    notes: list[str] = []
    agreement: Agreement | None = None
    if dataset.annotations is None:
        labels = _checked_labels(dataset, task)
    else:
        agreement, notes = _agreement(dataset, dataset.annotations, options, context)
        labels = as_labels(agreement.labels, len(dataset), "classification", "the consensus")
    sizes = Sizes(*dataset.shape, max(1, len(labels.classes)))
    choice = choose(sizes, options, cluster) if method == "auto" else None
    name = method if choice is None else choice.method
    options, ridge_choice = _with_ridge(options, dataset, labels, name)
    if choice is not None and name == "exact":
        cluster = None  # nobody asked for exact scores on a cluster
    reject_unused_options(METHODS[name], options, cluster=cluster is not None)
    context = replace(context, cluster=cluster)
    problem = Problem(_inputs(dataset, options, name), dataset, labels)
    solution, choice = _solution(problem, options, context, name, choice, sizes)
    judgement: Judgement | None = None
    if judge and (options.ridge == 0 or labels.task == "regression"):
        judgement, failures = _judgement(dataset, labels, options, context)
        notes += failures
    return assemble(
        problem,
        solution,
        judgement=judgement,
        further_warnings=notes,
        method=name if choice is None else choice.method,
        seconds=time.perf_counter() - start,
        seed=options.seed,
        choice=None if choice is None else choice.document(),
        ridge_choice=None if ridge_choice is None else vars(ridge_choice).copy(),
        columns=None if agreement is None else _consensus_columns(dataset, agreement),
        annotators=None if agreement is None else _records(agreement),
    )


def _agreement(
    dataset: Dataset, annotations: Annotations, options: Options, context: Context
) -> tuple[Agreement, list[str]]:
    """The consensus of annotators and inputs, and warnings."""
    if options.task == "regression":
        raise OptionError("task='regression': labels of several annotators must be classes.")
    notes: list[str] = []
    options = replace(options, ridge=0.0, checkpoint=None)  # judged with the automatic ridge

    def predict(y: NDArray[Any]) -> tuple[NDArray[Any], Array | None]:
        labels = as_labels(y, len(dataset), "classification", "the consensus")
        judgement, failures = _judgement(dataset, labels, options, context)
        if failures and not notes:
            notes.append(f"Annotators are weighted without the inputs. {failures[0]}")
        return labels.classes, None if judgement is None else judgement.loo

    return agree(annotations, predict), notes


def _records(agreement: Agreement) -> list[dict[str, Any]]:
    rows = agreement.reliability.to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _consensus_columns(dataset: Dataset, agreement: Agreement) -> dict[str, Any]:
    counts = np.array([]) if dataset.annotations is None else dataset.annotations.counts
    return {"consensus_confidence": agreement.confidence, "annotators": counts}


def _solution(
    problem: Problem,
    options: Options,
    context: Context,
    name: str,
    choice: Choice | None,
    sizes: Sizes,
) -> tuple[Solution, Choice | None]:
    """What the method found; exact scores where ``auto`` chose another that refuses the data."""
    try:
        return METHODS[name].run(problem, options, context), choice
    except (ConvergenceError, SingularKernelError) as error:
        if choice is None or name != "iterative":
            raise
        choice = instead_of_iterative(error, sizes, options)
    if options.checkpoint is not None:  # the folder itself holds the iterative work
        options = replace(options, checkpoint=options.checkpoint / "exact")
    return METHODS["exact"].run(problem, options, Context(context.progress)), choice


def _judgement(
    dataset: Dataset, labels: Labels, options: Options, context: Context
) -> tuple[Judgement | None, list[str]]:
    """Predictions to judge labels by, or None and a warning that says why there are none.

    Their ridge is that of the scores if it is above 0, and the automatic one otherwise. Numbers are
    centred on their median.
    """
    start = time.perf_counter()
    defaults = Options(ridge=options.ridge or float("nan"), kernel=options.kernel)
    folder = options.checkpoint
    options = replace(
        defaults,
        seed=options.seed,
        memory_limit=options.memory_limit,
        device=options.device,
        checkpoint=None if folder is None else folder / "judge",
    )
    sizes = Sizes(*dataset.shape, max(1, len(labels.classes)))
    centre = 0.0
    if labels.task == "regression":
        centre = float(np.median(labels.values))
        labels = replace(labels, values=labels.values - centre)
    context = Context(Timed(Named("judging", context.progress.inner)), context.cluster)
    try:
        choice = choose(sizes, options, context.cluster)
        options, ridge = _with_ridge(options, dataset, labels, choice.method)
        if choice.method == "exact":
            context = replace(context, cluster=None)
        plain = replace(dataset, columns={})  # groups are valued once, with the scores
        problem = Problem(_inputs(plain, options, choice.method), plain, labels)
        solution, taken = _solution(problem, options, context, choice.method, choice, sizes)
    except (ConvergenceError, MemoryLimitError, SingularKernelError, StorageError) as error:
        reason = f"because the separate solution for judging failed: {error}"
        return None, [f"Labels are judged by the scores themselves, {reason}"]
    facts = {
        "ridge": options.ridge,
        "ridge_choice": None if ridge is None else vars(ridge).copy(),
        "method": choice.method if taken is None else taken.method,
        "audit": solution.audit,
        "seconds": time.perf_counter() - start,
    }
    values = solution.valuation
    loo = values.loo + centre if centre else values.loo
    return Judgement(loo, values.d, facts, solution.keeps_predictions), []


def _checked_labels(dataset: Dataset, task: str) -> Labels:
    if dataset.y is None:
        raise no_labels()
    return as_labels(dataset.y, len(dataset), task, dataset.label_name)


def _inputs(dataset: Dataset, options: Options, method: str = "exact") -> Inputs:
    return Inputs(
        dataset,
        ridge=options.ridge,
        duplicates=options.duplicates,
        memory_limit=options.memory_limit,
        kernel=options.kernel,
        stream=METHODS[method].streams and options.ridge > 0,
    )


def _with_ridge(
    options: Options, dataset: Dataset, labels: Labels, method: str = "exact"
) -> tuple[Options, RidgeChoice | None]:
    """The options with a ridge that is a number, and how it was found if that was asked for."""
    if not np.isnan(options.ridge):
        return options, None
    sample = ridge_sample(labels.codes, options.seed)
    part = replace(labels, values=labels.values[sample], codes=labels.codes[sample])
    rows = unit_rows(dataset.X[sample], kernel=options.kernel, positions=sample)
    targets = part.targets()
    if labels.task == "regression":
        targets -= np.median(labels.values)  # as they are judged, so that both ridges are one
    choice = least_error(rows, targets)
    if method == "lowrank":
        from cgscore.methods.lowrank import choose_ridge

        choice = choose_ridge(dataset, labels, options, choice)
    return replace(options, ridge=choice.ridge), choice


def factor(
    X: Any,
    *,
    ridge: float | str = 0.0,
    kernel: str = "relu",
    dtype: str = "float64",
    memory_limit: int | float | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    duplicates: str = "merge",
    progress: bool | Listener | None = None,
) -> Factor:
    """The factorised kernel matrix of X, with which any labelling is scored quickly.

    Parameters are those of `score`.
    """
    options = Options.checked(
        ridge=ridge,
        kernel=kernel,
        duplicates=duplicates,
        memory_limit=memory_limit,
        dtype=dtype,
        checkpoint=checkpoint,
    )
    dataset = read(X)
    if ridge == "auto" and dataset.y is None:
        raise LabelError("ridge='auto' needs labels: give data that hold them, or a number.")
    if ridge == "auto":
        options, _ = _with_ridge(options, dataset, _checked_labels(dataset, options.task))
    return Factor(
        _inputs(dataset, options),
        memory_limit=options.memory_limit,
        progress=reporter(progress),
        dtype=options.dtype,
        checkpoint=options.checkpoint,
    )


def complexity(
    X: Any, y: ArrayLike | None = None, *, ridge: float = 0.0, task: str = "auto"
) -> dict[Any, float]:
    """``y^T (H + ridge I)^-1 y`` of every class; under ``"target"`` for regression."""
    dataset = read(X, labels=y)
    labels = _checked_labels(dataset, task)
    return factor(dataset, ridge=ridge).complexity(labels.values, task=labels.task)


def _cluster(client: Any) -> ClusterExecutor:
    """The cluster of a Dask client."""
    try:
        from cgscore.execution.dask import Cluster
    except ModuleNotFoundError as error:
        raise OptionError(
            'client= needs dask.distributed. Install it: pip install "cgscore[dask]"'
        ) from error
    return Cluster(client)
