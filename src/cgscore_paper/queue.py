"""The long cells of the plan ``full``, in the order in which they are worth having.

Each stage is a name and the cells that it needs. Figures are made from whatever is finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cgscore_paper import (
    appendix_a,
    appendix_b,
    appendix_d,
    appendix_e,
    appendix_j,
    figure_1,
    heads,
    table_1,
    theorem_1,
)
from cgscore_paper import feature_scores as features
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.scores import (
    RATIOS,
    augmented_cell,
    estimate_cell,
    exact_cell,
    shared_runs,
)
from cgscore_paper.trainings import accuracy_cells, dynamics_cell, scoring_cells, tracin_cell
from cgscore_paper.whole import summary_cell

#: The share that stays at the point that is trained several times, and the others.
PILOT = 0.6
SHARES = (0.4, 0.8, 0.2)
#: Runs of the paper's estimator.
PAPER_RUNS = 10
#: Scores of figure 2 besides random removal; C-scores are published for CIFAR only.
SCORES = ("exact_cg", "c_score", "el2n", "forgetting")
ORDERS = ("low-first", "high-first")

Stage = tuple[str, list[Cell]]


def stages(plan: Plan) -> Iterator[Stage]:
    """All stages, first those that matter most."""
    yield "pilot", list(pilot(plan, "cifar-10"))
    yield from without_training(plan)
    yield "scores by training, cifar-10", scoring_cells(plan, "cifar-10")
    yield "figure 2, cifar-10", list(curves(plan, "cifar-10"))
    yield "estimator, cifar-10", [estimate_cell(plan, "cifar-10"), summary_cell(plan, "cifar-10")]
    yield "heads, cifar-10", list(head_lines(plan))
    yield "figure 2, cifar-10, estimator", list(lines(plan, "cifar-10", ("cg",)))
    yield "figure 4", [dynamics_cell(plan, "cifar-10", "exact_cg")]
    for dataset in ("fashion-mnist", "cifar-100"):
        yield f"exact scores, {dataset}", [exact_cell(dataset)]
        yield f"repeats, {dataset}", list(pilot(plan, dataset))
        yield f"scores by training, {dataset}", scoring_cells(plan, dataset)
        yield f"figure 2, {dataset}", list(curves(plan, dataset))
        yield f"estimator, {dataset}, 3 runs", [estimate_cell(plan, dataset)]
        yield f"figure 2, {dataset}, estimator", list(lines(plan, dataset, ("cg",)))
    yield from appendices(plan)
    yield "augmented, cifar-10, all runs", [augmented_cell(plan, "cifar-10", plan.runs)]


def without_training(plan: Plan) -> Iterator[Stage]:
    """Scores, times and checks that need no network, or a very small one."""
    yield "figure 1", [figure_1.cell(plan)]
    yield "theorem 1", theorem_1.cells(plan)
    yield "estimator, cifar-100", [estimate_cell(plan, "cifar-100", runs=PAPER_RUNS)]
    yield "summary, cifar-100", [summary_cell(plan, "cifar-100", PAPER_RUNS)]
    yield "augmented, cifar-100", [augmented_cell(plan, "cifar-100", PAPER_RUNS)]
    yield (
        "seconds, cifar-100",
        [appendix_d.estimator_cell(plan, "cifar-100", ratio) for ratio in RATIOS],
    )
    yield "appendix a", [appendix_a.summary_cell(plan)]
    yield "augmented, cifar-10", [augmented_cell(plan, "cifar-10", 1)]
    yield "summary, fashion-mnist", [summary_cell(plan, "fashion-mnist")]
    yield (
        "trials",
        [
            table_1.scalings_cell(plan, "cifar-10"),
            appendix_j.ridges_cell(plan),
            appendix_b.even_counts_cell(plan),
        ],
    )


def appendices(plan: Plan) -> Iterator[Stage]:
    """Trainings of the appendices, of CIFAR-10 and, where the paper has it, Fashion-MNIST."""
    rate = appendix_b.RATE
    for dataset in ("fashion-mnist", "cifar-100", "cifar-10"):
        yield f"figure 3, {dataset}", [*shared_runs(plan, dataset), *noisy_cells(plan, dataset)]
    for dataset in ("cifar-10", "fashion-mnist"):
        for reading in appendix_b.READINGS:
            cells = [appendix_b.window_cells(plan, dataset, reading, at) for at in plan.offsets]
            yield f"appendix b, {dataset}, {reading}", [cell for at in cells for cell in at]
    yield "appendix f, scores", [tracin_cell(plan, "cifar-10")]
    yield "appendix f, cifar-10", list(lines(plan, "cifar-10", ("tracin", "craig")))
    yield "appendix h, pixels", [features.pixel_cell(plan, "cifar-10", at) for at in (0.0, rate)]
    yield (
        "appendix h, features",
        [features.feature_cell(plan, "cifar-10", at) for at in (0.0, rate)],
    )
    yield "appendix h, cifar-10", list(lines(plan, "cifar-10", ("feature_cg", "pixel_cg")))
    yield "appendix e, densenet", list(dense(plan))


def noisy_cells(plan: Plan, dataset: str) -> list[Cell]:
    """Trainings that score wrong labels: for figure 3, and for TracIn in appendix F."""
    rate = appendix_b.RATE
    cells = scoring_cells(plan, dataset, rate)
    return cells if dataset == "cifar-10" else [*cells, tracin_cell(plan, dataset, rate)]


def pilot(plan: Plan, dataset: str) -> Iterator[Cell]:
    """All examples, and 40 % removed at random and by exact CG-score, several times each."""
    for repeat in range(plan.repeats):
        yield accuracy_cells(plan, dataset, "exact_cg", fraction=PILOT)[repeat]
        yield accuracy_cells(plan, dataset, "random", fraction=PILOT)[repeat]
        yield accuracy_cells(plan, dataset, "full")[repeat]
        yield accuracy_cells(plan, dataset, "exact_cg", order="high-first", fraction=PILOT)[repeat]


def curves(plan: Plan, dataset: str, shares: Sequence[float] = (PILOT, *SHARES)) -> Iterator[Cell]:
    """One training for every point of figure 2, share by share."""
    scores = [by for by in SCORES if by != "c_score" or dataset.startswith("cifar")]
    for share in shares:
        yield from accuracy_cells(plan, dataset, "random", fraction=share, repeats=1)
        for order in ORDERS:
            for by in scores:
                yield from accuracy_cells(plan, dataset, by, order=order, fraction=share, repeats=1)


def lines(plan: Plan, dataset: str, scores: Sequence[str]) -> Iterator[Cell]:
    """One training for every point of some scores; CRAIG has no opposite order."""
    for share in (PILOT, *SHARES):
        for by in scores:
            for order in ORDERS[: 1 if by == "craig" else 2]:
                yield from accuracy_cells(plan, dataset, by, order=order, fraction=share, repeats=1)


def head_lines(plan: Plan) -> Iterator[Cell]:
    """Heads on features for every line of appendix E."""
    for by in ("full", "random"):
        yield from heads.head_cells(plan, by)
    for by in appendix_e.HEAD_SCORES:
        if by != "random":
            for order in ORDERS:
                yield from heads.head_cells(plan, by, order)


def dense(plan: Plan) -> Iterator[Cell]:
    """The DenseNet of appendix E: all examples, and two shares by exact CG-score and at random."""
    options = {"net": "densenet", "repeats": plan.densenet_repeats}
    yield from accuracy_cells(plan, appendix_e.DATASET, "full", **options)  # type: ignore[arg-type]
    for share in plan.kept[1::2]:
        for by, orders in (("random", ORDERS[:1]), ("exact_cg", ORDERS)):
            for order in orders:
                yield from accuracy_cells(
                    plan,
                    appendix_e.DATASET,
                    by,
                    order=order,
                    fraction=share,
                    **options,  # type: ignore[arg-type]
                )
