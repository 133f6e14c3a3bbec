"""All examples at once through landmarks, for any number of them (`cgscore.solvers.lowrank`)."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data import Dataset
from cgscore.data.readers.mapped import MIN_MAPPED_BYTES
from cgscore.errors import MemoryLimitError, OptionError
from cgscore.execution.checkpoint import Checkpoint, digest_of, work_identity
from cgscore.execution.executor import Executor, Local
from cgscore.execution.files import scratch_file
from cgscore.execution.machine import memory_room, show_bytes
from cgscore.labels import Labels
from cgscore.methods.cost import Cost, Sizes
from cgscore.methods.method import Context
from cgscore.methods.options import Options
from cgscore.problem import MIN_DIGITS, Problem, Solution
from cgscore.rows import streamed_rows
from cgscore.solvers.cholesky.placement import scratch_folder
from cgscore.solvers.lowrank import audit as audits
from cgscore.solvers.lowrank import model, ridge
from cgscore.solvers.lowrank.blocks import MAX_BLOCK_ROWS, MAX_SEGMENTS, sample_bytes
from cgscore.solvers.lowrank.landmarks import landmarks_of
from cgscore.solvers.lowrank.model import Landmarks, Targets
from cgscore.solvers.lowrank.solve import Outcome, segments_together, solve
from cgscore.solvers.ridge_search import RidgeChoice
from cgscore.typing import Array

MAX_LANDMARKS = 4000
#: Sums of segments that wait for others: sizes 1, 2, 4, ... of the tree, and some that are early.
WAITING_SUMS = 8
#: Time outside of matrix products, as a share of that inside, by `bench/cluster.py estimates`.
OVERHEAD = 0.35
MAX_KEPT = 2 * 10**8  # predictions that are kept without being asked for
MIN_CORRELATION = 0.95  # of the margin with the exact one, below which a run warns


class LowRank:
    """Landmarks with exact blocks of similar rows."""

    name = "lowrank"
    accepts = frozenset({"landmarks", "keep_predictions", "checkpoint", "client"})
    keeps = "the same run again"
    streams = True

    def cost(self, sizes: Sizes, options: Options, workers: int = 1) -> Cost:
        """Two passes; rows are read as they come and not held.

        Before them there is the sample that decides on blocks. Predictions that are not kept are on
        disk in any case (`scratch_bytes`): `Cost.disk` is what a disk takes in place of memory.
        """
        n, p, k = sizes.n, sizes.p, sizes.k
        m = landmark_count(n, options)
        task = model.segment_bytes(n, p, k, m)
        kept = k if keeps_predictions(n, k, options) else 0
        held = 8 * (n * (kept + 12 + 12) + m * (p + 2 * m) + WAITING_SUMS * m * m)
        flops = model.flops(n, p, k, m) + 3.0 * m**3
        sample = sample_bytes(n, p)
        count = min(MAX_SEGMENTS, -(-n // MAX_BLOCK_ROWS))
        together = segments_together(count, workers)
        sent = 4 * n * p if 4 * n * p < MIN_MAPPED_BYTES else 0  # larger files are mapped there
        return Cost(
            flops,
            held + max(min(workers, count) * task, sample),
            held + max(task, sample),
            tasks=2 * count,
            worker_bytes=sent + 8 * m * (p + 2 * m) + model.segment_bytes(n, p, k, m, together),
            overhead=OVERHEAD,
            # rows to each worker three times, landmarks twice, L and Z once; sums and results back
            traffic=workers * (3 * sent + 8 * m * (2 * p + 3 * m + k))
            + 8 * m * m * -(-count // together)
            + n * (80 + (8 if kept else 4) * k),
            workers=workers,
        )

    def run(self, problem: Problem, options: Options, context: Context) -> Solution:
        """Choose landmarks, go over all rows twice, and measure how good the result is."""
        inputs, progress = problem.inputs, context.progress
        if inputs.ridge == 0:
            raise OptionError(
                "method='lowrank' needs a ridge above 0: without one it divides by zero at the "
                "landmarks. Use ridge='auto' or a number; for scores at ridge 0 use another "
                "method, for example partition."
            )
        rows, targets = inputs.streamed, targets_of(problem.labels)
        n, p = rows.shape
        m = landmark_count(n, options)
        executor: Executor = context.cluster or Local(options.memory_limit)
        self.check_memory(Sizes(n, p, targets.k), options)
        folder = scratch_folder()
        check_disk(folder, Sizes(n, p, targets.k), options)
        keeps = keeps_predictions(n, targets.k, options)
        held = 8 * n * targets.k if keeps else 0
        shared = rows.sent_bytes() + 8 * m * (p + 2 * m) if context.cluster else held
        together = 1  # threads share memory: nothing is sent
        if context.cluster:
            count = min(MAX_SEGMENTS, -(-n // MAX_BLOCK_ROWS))
            together = segments_together(count, executor.workers())
        executor.check_memory(shared, model.segment_bytes(n, p, targets.k, m, together))
        flops = model.flops(n, p, targets.k, m)
        with ExitStack() as stack, progress.whole(flops):
            checkpoint = self._checkpoint(problem, options, m)
            if checkpoint:
                stack.callback(checkpoint.close)
            # the predictions in it stay mapped when it is closed
            file = None if keeps else stack.enter_context(scratch_file(folder))
            with progress.phase("landmarks", 0.0):
                landmarks = landmarks_of(rows, m, inputs.ridge, seed=options.seed)
            outcome = solve(
                rows,
                landmarks,
                targets,
                executor=executor,
                progress=progress,
                seed=options.seed,
                store=checkpoint,
                file=file,
                together=together,
            )
        report, audit_left_out = _audit(problem, outcome, flops, options, context)
        complexity = outcome.complexity.tolist()
        return Solution(
            valuation=outcome.valuation,
            complexity=dict(zip(problem.labels.keys(), complexity, strict=True)),
            audit=report,
            warnings=[
                *(checkpoint.renewed() if checkpoint else []),
                *executor.warnings(),
                *_warnings(landmarks, m, outcome, report),
            ],
            facts={
                "workers": executor.describe(),
                "dtype": "float64",
                "storage": "streamed",
                "landmarks": len(landmarks),
                "landmarks_drawn": m,
                "audit_left_out": audit_left_out,
                "condition": None,
                "digits": outcome.digits,
                "loss": None,
                "timings": dict(progress.seconds),
            },
            keeps_predictions=keeps,
        )

    def _checkpoint(self, problem: Problem, options: Options, m: int) -> Checkpoint | None:
        if options.checkpoint is None:
            return None
        labels, inputs = problem.labels, problem.inputs
        shape = len(labels.codes), max(1, len(labels.classes))
        work = work_identity(
            problem.dataset.inputs_digest,
            inputs.streamed.shape,
            inputs.streamed.kernel,
            inputs.ridge,
            blas_threads=False,
            method=self.name,
            labels=digest_of(labels.codes if len(labels.classes) else labels.values),
            seed=options.seed,
            landmarks=m,
            blocks=MAX_BLOCK_ROWS,
            predictions="float64" if keeps_predictions(*shape, options) else "float32",
        )
        return Checkpoint(options.checkpoint, work)

    def check_memory(self, sizes: Sizes, options: Options) -> None:
        """Raise `MemoryLimitError` if there is not enough memory."""
        needed, room = self.cost(sizes, options).min_bytes, memory_room(options.memory_limit)
        if needed > room.bytes:
            raise MemoryLimitError(
                f"Scoring {sizes.n:,} examples in {sizes.k:,} classes with "
                f"{landmark_count(sizes.n, options):,} landmarks needs {show_bytes(needed)} of "
                f"memory; {room}. Use fewer landmarks, or a machine with more memory."
            )


def landmark_count(n: int, options: Options) -> int:
    """Number of landmarks: as asked for, or `MAX_LANDMARKS`, at most all rows."""
    return min(n, options.landmarks or MAX_LANDMARKS)


def keeps_predictions(n: int, k: int, options: Options) -> bool:
    """Whether predictions become a part of the result; those of numbers always do."""
    asked = options.keep_predictions
    return k == 1 or (n * k <= MAX_KEPT if asked is None else asked)


def scratch_bytes(n: int, k: int, options: Options) -> int:
    """Bytes of the temporary file of predictions, in float32, that are not kept."""
    return 0 if keeps_predictions(n, k, options) else 4 * n * k


def check_disk(folder: Path, sizes: Sizes, options: Options) -> None:
    """Raise `MemoryLimitError` if predictions that are not kept do not fit into a folder."""
    needed, free = scratch_bytes(sizes.n, sizes.k, options), shutil.disk_usage(folder).free
    if needed > free:
        raise MemoryLimitError(
            f"The predictions of {sizes.n:,} examples for {sizes.k:,} classes need "
            f"{show_bytes(needed)} of disk while they are scored; {show_bytes(free)} is free in "
            f"{folder}. Set TMPDIR to a folder on a larger disk, or give keep_predictions=True, "
            f"which takes {show_bytes(2 * needed)} of memory instead."
        )


def targets_of(labels: Labels) -> Targets:
    """Targets that are formed a few rows at a time."""
    if labels.task == "regression":
        return Targets(labels.codes, 1, np.asarray(labels.values, np.float64))
    return Targets(labels.codes, len(labels.classes))


def choose_ridge(
    dataset: Dataset, labels: Labels, options: Options, start: RidgeChoice
) -> RidgeChoice:
    """The ridge of the least leave-one-out error of this model, near that of the exact one."""
    rows = streamed_rows(dataset.X, kernel=options.kernel)
    n = len(rows)
    METHOD.check_memory(Sizes(*rows.shape, max(1, len(labels.classes))), options)
    landmarks = landmarks_of(rows, landmark_count(n, options), 0.0, seed=options.seed)
    sample = ridge.sample_of(labels.codes, options.seed)
    Y = targets_of(labels)[sample]
    if labels.task == "regression":
        Y = Y - np.median(labels.values)
    return ridge.least_error(
        rows[sample], sample, Y, landmarks, start.ridge, n=n, executor=Local(options.memory_limit)
    )


def _audit(
    problem: Problem, outcome: Outcome, flops: float, options: Options, context: Context
) -> tuple[dict[str, Any] | None, str | None]:
    """The audit, where it is affordable."""
    inputs, values = problem.inputs, outcome.valuation
    n, p = inputs.streamed.shape
    k = values.loo.shape[1]
    room = memory_room(options.memory_limit).bytes
    own = LowRank().cost(Sizes(n, p, k), options).bytes
    storage = "memory" if audits.audit_bytes(n, p, k, "memory") <= min(own, room) else "formed"
    if audits.audit_flops(n, p, storage) > max(audits.MAX_FLOPS, flops):
        return None, "it would take longer than the scores"
    if audits.audit_bytes(n, p, k, storage) > room:
        return None, "it does not fit in memory"
    Y: Array = problem.labels.targets()
    return audits.audit(
        inputs.streamed[:],
        inputs.ridge,
        Y,
        problem.labels.codes,
        (Y - values.loo) * values.d[:, None],
        values.d,
        storage=storage,
        seed=options.seed,
        progress=context.progress,
    )


def _warnings(
    landmarks: Landmarks, m: int, outcome: Outcome, report: Mapping[str, Any] | None
) -> list[str]:
    messages = []
    if len(landmarks) < m:
        messages.append(
            f"{m - len(landmarks):,} of {m:,} landmarks were left out: they depend on the others, "
            "mostly because rows repeat."
        )
    if not outcome.digits >= MIN_DIGITS:
        messages.append(
            f"The ridge is so small that about {max(0.0, outcome.digits):.0f} digits of some "
            "scores are left. A larger one keeps more."
        )
    name = "rank_correlation_margin"
    if report is not None and report.get(name, 1.0) < MIN_CORRELATION:
        low, high = report[f"{name}_interval"]
        messages.append(
            f"The audit of {report['examples']} examples estimates a rank correlation of "
            f"{report[name]:.3f} of the margin with the exact one (95 %: {low:.3f} to "
            f"{high:.3f}). More landmarks come nearer."
        )
    return messages


METHOD = LowRank()
