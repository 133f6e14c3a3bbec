"""Table 1: rank correlations of CG and CG' with scores that need training (section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cgscore.kernel import unit_rows
from cgscore.solvers.sampled.shared_draws import shared_run
from cgscore.typing import Array
from cgscore_paper import appendix_a, appendix_j
from cgscore_paper.cells import Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.datasets import SOURCES, c_scores, has_c_scores, load, missing
from cgscore_paper.figures import SCORES, legend_below, panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.plans import Plan
from cgscore_paper.results import MAX_UNEXPLAINED_DIFFERENCE, Compared, Result, table
from cgscore_paper.scores import subset_cell
from cgscore_paper.trainings import values
from cgscore_paper.whole import estimate_of, summary_of

TITLE = "Table 1: rank correlations with scores that need training"

OURS = ("cg", "cg_prime")
OTHERS = ("c_score", "forgetting", "el2n")
DEPENDS = ("cg", "partial", "cg_prime")
SCALING_EXAMPLES, SCALING_RUNS = 10_000, 10  # of `scalings`
RATIOS = SOURCES["cifar-10"].ratios

PAPER = {
    "cifar-10": {
        "cg": {"c_score": 0.557, "forgetting": 0.432, "el2n": 0.365},
        "cg_prime": {"c_score": 0.115, "forgetting": 0.110, "el2n": 0.136},
    },
    "cifar-100": {
        "cg": {"c_score": 0.529, "forgetting": 0.289, "el2n": 0.356},
        "cg_prime": {"c_score": 0.243, "forgetting": 0.090, "el2n": 0.177},
    },
}

#: Images that are scored, and the examples that networks are trained on where they are fewer.
PARTS = {
    "plain": "images as they are",
    "augmented": "cropped and mirrored",
    "trained_on": "trained on",
}
_MARKS = {"plain": ("o", "#0072b2"), "augmented": ("s", "#e69f00"), "trained_on": ("^", "#cc79a7")}
_SIGN = (
    "The sizes agree; CG' is high for what is learned fast, so that it falls with what is hard, "
    "and the paper prints no sign."
)


def make(work: Work, plan: Plan) -> Result:
    """Correlations on the whole of CIFAR-10 and CIFAR-100, or on the examples trained on."""
    not_run, datasets = [], []
    for name in PAPER:
        reason = missing(work.data, name)
        if reason:
            not_run.append(f"{SOURCES[name].title}: {reason}")
        else:
            datasets.append(name)
    numbers: dict[str, Any] = {}
    lines, trials = [], []
    for name in datasets:
        numbers[name] = of_dataset = _parts(work, plan, name)
        title = SOURCES[name].title
        lines.append([f"{title}, paper", None, *_line(PAPER[name])])
        for part, of in of_dataset.items():
            lines.append([f"{title}, {_label(part, of)}", of["examples"], *_line(of)])
        not_run += [
            f"{title}, {SCORES[by][0]}"
            for by in OTHERS
            if not any(by in of["cg"] for of in of_dataset.values())
        ]
        if has_c_scores(work.data, name):
            trials += _trials(work, plan, name)
    text = "\n\n".join(
        [
            "Spearman's rank correlation, with the sign as it comes. 1 - C-score, forgetting and "
            "EL2N are high for examples that are hard to learn, and so is the CG-score.",
            table(["", "examples", *_HEAD], lines),
            *[sentence for name in datasets if (sentence := _nearer(name, numbers[name]))],
        ]
    )
    figures = {"": _figure(numbers)} if any(numbers.values()) else {}
    compared = [one for name in PAPER for one in _compared(name, numbers.get(name, {}))]
    return Result(numbers, text, figures, compared, not_run, "\n\n".join(trials))


_HEAD = [f"{SCORES[ours][0]}, {SCORES[by][0]}" for ours in OURS for by in OTHERS]


def _label(part: str, of: Mapping[str, Any]) -> str:
    runs = of.get("runs")
    return PARTS[part] + (f", {runs} run{'s' * (runs > 1)}" if runs else "")


def _parts(work: Work, plan: Plan, name: str) -> dict[str, Any]:
    """Correlations by what was scored; nothing that is not finished."""
    parts: dict[str, Any] = {}
    others = {"c_score": _hard(work, name)}
    if plan.examples is None:  # networks are trained on all examples
        others |= {by: _trained(work, plan, name, by) for by in ("forgetting", "el2n")}
    for part in ("plain", "augmented"):
        found = if_finished(lambda part=part: estimate_of(work, plan, name, part == "augmented"))  # type: ignore[misc]
        if found is not None:
            runs, scores = found
            ratio = SOURCES[name].ratio
            ours = {by: np.asarray(scores[f"{by}-{ratio}"]) for by in OURS}
            parts[part] = {"runs": runs, "examples": len(ours["cg"]), **_correlations(ours, others)}
    if "plain" not in parts:
        parts |= _summarised(work, plan, name)
    if plan.examples is not None:
        scores = work(subset_cell(plan, name))
        others = {
            by: values(work, plan, name, by)
            for by in OTHERS
            if by != "c_score" or has_c_scores(work.data, name)
        }
        ours = {by: scores[by] for by in OURS}
        parts["trained_on"] = {"examples": len(ours["cg"]), **_correlations(ours, others)}
    return parts


def _hard(work: Work, name: str) -> Array | None:
    known = c_scores(work.data, name, load(work.data, name).codes)
    return None if known is None else 1 - known


def _trained(work: Work, plan: Plan, name: str, by: str) -> Array | None:
    return if_finished(lambda: values(work, plan, name, by))


def _summarised(work: Work, plan: Plan, name: str) -> dict[str, Any]:
    """The correlation with 1 - C-score of a summary, whose single scores are not stored."""
    found = if_finished(lambda: summary_of(work, plan, name))
    if found is None or "c_score" not in found.value:
        return {}
    at_ratio = found["c_score"][str(SOURCES[name].ratio)]
    return {
        "plain": {"runs": found["runs"], "examples": found["examples"]}
        | {ours: {"c_score": at_ratio[ours]} for ours in OURS}
    }


def _correlations(
    ours: Mapping[str, Array], others: Mapping[str, Array | None]
) -> dict[str, dict[str, float]]:
    return {
        name: {by: spearman(score, other) for by, other in others.items() if other is not None}
        for name, score in ours.items()
    }


def _nearer(name: str, parts: Mapping[str, Any]) -> str:
    """Whether scores of augmented images are nearer to the paper's numbers."""
    if not {"plain", "augmented"} <= set(parts):
        return ""
    both = [
        [abs(parts[part]["cg"][by] - PAPER[name]["cg"][by]) for part in ("plain", "augmented")]
        for by in OTHERS
        if by in parts["plain"]["cg"] and by in parts["augmented"]["cg"]
    ]
    if not both:
        return ""
    plain, augmented = np.mean(both, axis=0)
    nearer = sum(second < first for first, second in both)
    return (
        f"{SOURCES[name].title}: CG-scores of cropped and mirrored images are nearer to the "
        f"paper's in {nearer} of {len(both)} numbers; the mean distance is {augmented:.3f}, that "
        f"of images as they are {plain:.3f}."
    )


def _compared(name: str, parts: Mapping[str, Any]) -> list[Compared]:
    """The paper's numbers beside ours of images as they are; augmented ones may explain more."""
    compared = []
    for ours in OURS:
        for by in OTHERS:
            part = next(
                (part for part in ("plain", "trained_on") if _has(parts, part, by)),
                None,
            )
            paper = PAPER[name][ours][by]
            what = f"{SOURCES[name].title}: {SCORES[ours][0]} and {SCORES[by][0]}"
            if part is None:
                compared.append(Compared(what, paper, None))
                continue
            of = parts[part]
            size = f"{of['examples']:,}; {_label(part, of)}"
            cause = _cause(ours, by, paper, of, parts.get("augmented"))
            compared.append(Compared(what, paper, of[ours][by], cause, size))
    return compared


def _cause(
    ours: str, by: str, paper: float, of: Mapping[str, Any], augmented: Mapping[str, Any] | None
) -> str:
    """The run that explains a difference, if there is one."""
    if ours == "cg_prime" and abs(abs(of[ours][by]) - paper) <= MAX_UNEXPLAINED_DIFFERENCE:
        return _SIGN
    value = None if augmented is None else augmented[ours].get(by)
    if value is not None and abs(value - paper) <= MAX_UNEXPLAINED_DIFFERENCE:
        return "Scores of cropped and mirrored images agree (row of the table)."
    return ""


def _has(parts: Mapping[str, Any], part: str, by: str) -> bool:
    return part in parts and by in parts[part]["cg"]


def _trials(work: Work, plan: Plan, name: str) -> list[str]:
    """What the correlation with 1 - C-score depends on."""
    trials = []
    found = if_finished(lambda: summary_of(work, plan, name))
    if found is not None and "c_score" in found.value:
        trials.append(
            f"Table 1, {SOURCES[name].title}: correlation with 1 - C-score on all examples, by how "
            f"many others the estimator draws for each of a class ({found['runs']} runs).\n\n"
            + table(
                ["", *(f"1:{ratio}" for ratio in RATIOS)],
                [
                    [SCORES[by][0], *(found["c_score"][str(ratio)][by] for ratio in RATIOS)]
                    for by in DEPENDS
                ],
            )
        )
    if name == appendix_a.DATASET:
        scaled = if_finished(lambda: work(scalings_cell(plan, name)))
        ridges = if_finished(lambda: work(appendix_j.ridges_cell(plan)))
        trials += [_scaling_table(name, dict(scaled.value))] if scaled else []
        trials += [_ridge_table(dict(ridges.value))] if ridges else []
    return trials


def _scaling_table(name: str, scaling: dict[str, Any]) -> str:
    rows = [
        [way, *(correlations[by] for by in DEPENDS)]
        for way, correlations in scaling["ways"].items()
    ]
    return (
        f"The same for {scaling['examples']:,} examples of {SOURCES[name].title}, scored among "
        f"themselves at 1:{scaling['ratio']}, by what is done to pixels before rows get unit "
        "norm:\n\n"
    ) + table(["", *(SCORES[by][0] for by in DEPENDS)], rows)


def _ridge_table(with_ridge: dict[str, Any]) -> str:
    rows = [
        [f"ridge {ridge}", *correlations["c_score"]]
        for ridge, correlations in with_ridge["ridges"].items()
    ]
    return (
        f"CG-score and 1 - C-score of {with_ridge['examples']:,} images (those of "
        "appendix A), one run, "
        "with a ridge on the diagonal of the kernel matrix, of which the paper says nothing:\n\n"
    ) + table(["", *(f"1:{ratio}" for ratio in RATIOS)], rows)


@job(
    "estimator.scalings",
    version=1,
    alone=True,
    sample={"dataset": "cifar-10", "seed": 0},
    tolerance=1e-2,  # correlations near 0: processors differ in their third digit
)
def scalings(work: Work, dataset: str, seed: int) -> dict[str, Any]:
    """Correlations of some examples with 1 - C-score, by how pixels are scaled and by runs.

    Every example has the paper's ratio of others, and rows get unit norm after all of this.
    """
    images = load(work.data, dataset)
    rng, k = np.random.default_rng([seed, 3]), len(images.names)
    count = min(SCALING_EXAMPLES // k, int(np.bincount(images.codes).min()))
    by_class = [
        rng.choice(np.flatnonzero(images.codes == c), count, replace=False) for c in range(k)
    ]
    rows = np.sort(np.concatenate(by_class))
    published = c_scores(work.data, dataset, images.codes)
    if published is None:
        return {}
    hard, codes = 1 - published[rows], images.codes[rows]
    pixels, raw = images.rows(False), images[rows].rows(False).astype(np.float64)
    ways = {
        "pixels as they are": (raw, SCALING_RUNS),
        "channels standardised": (images.rows(True)[rows], SCALING_RUNS),
        "mean image taken off": (raw - pixels.mean(axis=0), 1),
        "own mean taken off": (raw - raw.mean(axis=1, keepdims=True), 1),
    }
    ratio = SOURCES[dataset].ratio
    scaling: dict[str, Any] = {"examples": len(rows), "ratio": ratio, "ways": {}}
    for way, (X, runs) in ways.items():
        unit, total = unit_rows(X), dict.fromkeys(DEPENDS, np.zeros(len(rows)))
        for run in range(runs):
            estimate = shared_run(unit, codes, [ratio], seed=seed, run=run, progress=work.progress)
            terms = estimate.terms(codes, ratio, work.progress)
            terms["cg"] = terms["first_term"] + terms["partial"] + terms["third_term"]
            total = {by: total[by] + terms[by] for by in DEPENDS}
            if run + 1 in (1, SCALING_RUNS):
                scaling["ways"][f"{way}, {run + 1} run{'s' * (run > 0)}"] = {
                    by: spearman(total[by], hard) for by in DEPENDS
                }
    return scaling


def scalings_cell(plan: Plan, dataset: str) -> Cell:
    """The cell of `scalings`."""
    return scalings.cell(dataset=dataset, seed=plan.seed)


def _line(correlations: Mapping[str, Any]) -> list[float | None]:
    return [correlations[ours].get(by) for ours in OURS for by in OTHERS]


def _figure(numbers: Mapping[str, Any]) -> tuple[Any, str]:
    """Points of ours beside the paper's."""
    shown = {name: parts for name, parts in numbers.items() if parts}
    figure, grid = panels(1, len(shown), width=4.4, height=3.1, share_y=True)
    pairs = [(ours, by) for ours in OURS for by in OTHERS]
    for axes, (name, parts) in zip(grid[0], shown.items(), strict=True):
        axes.axhline(0, color="#777777", linewidth=0.8)
        lines = [("paper", "x", "#000000", PAPER[name])]
        lines += [(PARTS[part], *_MARKS[part], of) for part, of in parts.items()]
        for i, (label, mark, colour, of) in enumerate(lines):
            at = {x: of[ours][by] for x, (ours, by) in enumerate(pairs) if by in of[ours]}
            x = [place + 0.16 * (i - (len(lines) - 1) / 2) for place in at]
            axes.plot(x, list(at.values()), mark, color=colour, markersize=5, label=label)
        names = [SCORES[by][0] for _, by in pairs]
        axes.set_xticks(range(len(pairs)), names, rotation=30, ha="right")
        axes.axvline(len(OTHERS) - 0.5, color="#777777", linewidth=0.8)
        for place, ours in zip((0.25, 0.75), OURS, strict=True):
            axes.text(
                place, 0.02, SCORES[ours][0], transform=axes.transAxes, ha="center", fontsize=9
            )
        axes.set_title(SOURCES[name].title)
        axes.set_ylim(-0.75, 0.75)
    grid[0, 0].set_ylabel("rank correlation")
    legend_below(figure, grid[0])
    return figure, "Rank correlations as in the table, beside the paper's."
