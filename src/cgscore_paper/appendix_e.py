"""Appendix E: pruning for other networks, a DenseNet and a pretrained network."""

from __future__ import annotations

from typing import Any

from cgscore_paper import heads
from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.networks import NETWORKS, network, pretrained_cell
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import (
    ORDERS,
    Curves,
    Experiment,
    available,
    draw,
    experiment,
    harmless_comparison,
    run,
    subset_size,
    training_caption,
    untested,
)
from cgscore_paper.results import Result

TITLE = "Appendix E: pruning for other networks"

DATASET = heads.DATASET
SCORES = ("cg", "el2n", "random")
#: Of all examples: those that prune for the DenseNet, and for heads on features.
DENSE_SCORES = ("exact_cg", "random")
HEAD_SCORES = ("exact_cg", "cg", "c_score", "el2n", "forgetting", "random")
#: Share that the paper removes from a fine-tuned Vision Transformer with its accuracy maintained.
PAPER_SHARE = 0.9
HEADS_TITLE = f"Heads on {heads.ENCODER} features"


def make(work: Work, plan: Plan) -> Result:
    """Accuracy against the share removed for both networks."""
    names, not_run = available(work, [DATASET])
    if not names:
        return Result({}, "", not_run=not_run)
    if plan.background:
        return _from_cells(work, plan)
    small = plan.prune_training is not None
    dense = experiment(
        work,
        plan,
        DATASET,
        SCORES,
        net="densenet",
        repeats=plan.densenet_repeats,
        kept=plan.kept[1::2] if small else plan.kept,
    )
    vision = experiment(work, plan, DATASET, SCORES, net="vit")
    pretraining = [pretrained_cell(plan, DATASET)] if small else []
    # The transformer is trained beside the DenseNets, and fine-tuned after it is there.
    curves = run(work, plan, [dense], pretraining) + run(work, plan, [vision])
    by_title = {NETWORKS[curve.experiment.net]: curve for curve in curves}
    numbers: dict[str, Any] = {curve.experiment.net: curve.numbers() for curve in curves}
    captions = [
        f"Pruning of {SOURCES[DATASET].title} for a DenseNet (left) and a fine-tuned Vision "
        "Transformer (right), with the lowest scores removed first (above) and the highest "
        f"(below). {training_caption(plan, curves)}",
    ]
    if small:
        width = network(work, plan, DATASET, "densenet", plan.seed)[1].width
        epochs = network(work, plan, DATASET, "vit", plan.seed)[1].settings.epochs
        pretrained = work(pretraining[0])
        numbers["pretrained"] = {name: pretrained[name] for name in ("images", "accuracy")}
        captions.append(
            f"The DenseNet-BC-100 has a growth rate of {width} instead of 12. The Vision "
            f"Transformer is a small one, trained before on {pretrained['images']:,} "
            "other images of "
            f"{SOURCES[DATASET].title} (test accuracy {pretrained['accuracy']:.3f} after that) and "
            f"fine-tuned for {epochs} epochs."
        )
    return Result(
        numbers,
        "\n\n".join(curves_of.text(title) for title, curves_of in by_title.items()),
        {"": (draw(by_title), " ".join(captions))},
        not_run=not_run,
    )


def dense_experiment(work: Work, plan: Plan) -> Experiment:
    """A small DenseNet on all examples, at two shares."""
    return experiment(
        work,
        plan,
        DATASET,
        DENSE_SCORES,
        net="densenet",
        repeats=plan.densenet_repeats,
        kept=plan.kept[1::2],
    )


def _from_cells(work: Work, plan: Plan) -> Result:
    """What is finished of all examples: heads on features, and a DenseNet."""
    by_title = {
        NETWORKS["densenet"]: run(work, plan, [dense_experiment(work, plan)])[0],
        HEADS_TITLE: head_curves(work, plan),
    }
    shown = {title: curves for title, curves in by_title.items() if curves.started}
    figures = {}
    if shown:
        caption = (
            f"Pruning of {SOURCES[DATASET].title} with the lowest scores removed first (above) and "
            f"the highest (below). {training_caption(plan, list(shown.values()))} A head is a "
            "multinomial logistic regression: without draws, it is the same in every repeat."
        )
        figures[""] = (draw(shown), caption)
    return Result(
        {curves.experiment.net: curves.numbers() for curves in shown.values()},
        "\n\n".join(curves.text(title) for title, curves in shown.items()),
        figures,
        compared=[harmless_comparison("Pretrained network", PAPER_SHARE, shown.get(HEADS_TITLE))],
        not_run=[untested(title) for title in by_title if title not in shown]
        + ["Fine-tuning of a Vision Transformer"],
    )


def head_curves(work: Work, plan: Plan) -> Curves:
    """Accuracies of heads as curves, of those cells that are finished."""
    of = experiment(work, plan, DATASET, HEAD_SCORES, kept=heads.SHARES, repeats=1, net="heads")
    full = [float(one["accuracy"][0]) for one in work.finished(heads.head_cells(plan, "full"))]
    found: dict[str, Any] = {}
    for order in ORDERS:
        found[order] = {}
        for by in of.scores:
            cells = heads.head_cells(plan, by, "low-first" if by == "random" else order)
            lines = [one["accuracy"] for one in work.finished(cells)]
            points = [[line[i] for line in lines] for i in range(len(heads.SHARES))]
            found[order][by] = [full, *points]
    return Curves(of, subset_size(work, plan, DATASET), full, found)
