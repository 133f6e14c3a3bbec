"""The long trainings of the plan ``full``, in the order in which they are worth having.

Each stage is a name and the cells that it needs. Figures are made from whatever is finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.scores import augmented_cell, estimate_cell, exact_cell
from cgscore_paper.trainings import accuracy_cells, scoring_cells

#: The share that stays at the point that is trained several times, and the others.
PILOT = 0.6
SHARES = (0.4, 0.8, 0.2)
#: Runs of the paper's estimator.
PAPER_RUNS = 10
#: Scores of figure 2 besides random removal; C-scores are published for CIFAR only.
SCORES = ("exact_cg", "c_score", "el2n", "forgetting", "cg")

Stage = tuple[str, list[Cell]]


def stages(plan: Plan) -> Iterator[Stage]:
    """All stages, first those that matter most."""
    yield "pilot", list(pilot(plan, "cifar-10"))
    yield "estimator, cifar-100", [estimate_cell(plan, "cifar-100", runs=PAPER_RUNS)]
    yield "augmented, cifar-100", [augmented_cell(plan, "cifar-100", PAPER_RUNS)]
    yield "augmented, cifar-10", [augmented_cell(plan, "cifar-10", 1)]
    for dataset in ("cifar-10", "fashion-mnist", "cifar-100"):
        yield f"scores by training, {dataset}", scoring_cells(plan, dataset)
        yield f"exact scores, {dataset}", [exact_cell(dataset)]
        yield f"estimator, {dataset}", [estimate_cell(plan, dataset)]
        yield f"figure 2, {dataset}", list(curves(plan, dataset))
        yield f"repeats, {dataset}", list(pilot(plan, dataset))
    yield "augmented, cifar-10, all runs", [augmented_cell(plan, "cifar-10", plan.runs)]


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
        for order in ("low-first", "high-first"):
            for by in scores:
                yield from accuracy_cells(plan, dataset, by, order=order, fraction=share, repeats=1)
