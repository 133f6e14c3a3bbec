"""Appendix E: pruning for other networks, a DenseNet and a fine-tuned Vision Transformer."""

from __future__ import annotations

from cgscore_paper.cells import Work
from cgscore_paper.datasets import SOURCES
from cgscore_paper.networks import NETWORKS, network, pretrained_cell
from cgscore_paper.plans import Plan
from cgscore_paper.pruning_curves import available, draw, experiment, run, training_caption
from cgscore_paper.results import Result

TITLE = "Appendix E: pruning for other networks"

DATASET = "cifar-10"
SCORES = ("cg", "el2n", "random")


def make(work: Work, plan: Plan) -> Result:
    """Accuracy against the share removed for both networks."""
    names, not_run = available(work, [DATASET])
    if not names:
        return Result({}, "", not_run=not_run)
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
    numbers = {curve.experiment.net: curve.numbers() for curve in curves}
    captions = [
        f"Pruning of {SOURCES[DATASET].title} for a DenseNet (left) and a fine-tuned Vision "
        "Transformer (right), with the lowest scores removed first (above) and the highest "
        f"(below). {training_caption(plan, curves)}",
        f"The DenseNet is trained {_times(dense.repeats)} for every point, the Vision Transformer "
        f"{_times(vision.repeats)}.",
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
            f"fine-tuned for {epochs} epochs: without a connection no small one trained on "
            "ImageNet can be had, as the paper's is."
        )
    return Result(
        numbers,
        "\n\n".join(curves_of.text(title) for title, curves_of in by_title.items()),
        {"": (draw(by_title), " ".join([*captions, plan.description]))},
        not_run=not_run,
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
