"""Figure 1: two Gaussians, the inverse of their kernel matrix, and their CG-scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import inv

from cgscore import factor, gram
from cgscore.typing import Array
from cgscore.valuation import cg_approx
from cgscore_paper.cells import CellResult, Work, if_finished
from cgscore_paper.correlations import spearman
from cgscore_paper.figures import panels
from cgscore_paper.jobs import Cell, job
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Result, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Figure 1: two Gaussians"

DIMENSIONS, PER_CLASS, DEVIATION = 3000, 1000, 0.5
NOISE = 0.1
HEAT_MAP_EXAMPLES = 100  # of each class in the heat map

_COLOURS = ("#b22222", "#0072b2")  # labels +1 and -1, as in the paper
_LABELS = ("+1", "-1")
_LINEAR_UP_TO = 0.05  # entries of the inverse below this are on a linear scale of colour


@job("gaussians", version=1, alone=True, sample={"dimensions": 60, "per_class": 40, "seed": 0})
def gaussians(work: Work, dimensions: int, per_class: int, seed: int) -> dict[str, Any]:
    """Both labellings of one draw, scored with one factor.

    ``x`` is the first dimension, ``own`` the class (0 has the mean +1) and ``given`` the class with
    wrong labels. Scores with right labels are ``cg`` and ``approx``, and ``g`` is what the
    approximation is made of; those with wrong labels have ``noisy_`` before the name.
    """
    codes = np.repeat(np.arange(2), per_class)
    X = np.random.default_rng([seed, 3]).normal(0, DEVIATION, (len(codes), dimensions))
    X[:, 0] += _signs(codes)
    given = wrong_labels(codes, NOISE, seed)
    H = gram(X)
    inverse = inv(H)
    off_diagonal = ~np.eye(len(codes), dtype=bool)
    same = codes[:, None] == codes
    positions = np.concatenate([np.flatnonzero(codes == c)[:HEAT_MAP_EXAMPLES] for c in range(2)])
    values: dict[str, Any] = {
        "x": X[:, 0],
        "own": codes,
        "given": given,
        "p": float(H[same & off_diagonal].mean()),
        "q": float(H[~same].mean()),
        "diagonal": float(np.abs(np.diag(inverse)).mean()),
        "off_diagonal": float(np.abs(inverse[off_diagonal]).mean()),
        "within_classes": float(inverse[same & off_diagonal].mean()),
        "between_classes": float(inverse[~same].mean()),
        "inverse": inverse[np.ix_(positions, positions)],
    }
    kernel_factor = factor(X, progress=False)
    for name, labels in (("", codes), ("noisy_", given)):
        y = _signs(labels)
        values[f"{name}cg"] = kernel_factor.score(labels).table["cg"].to_numpy()
        values[f"{name}approx"] = cg_approx(y, H @ y, H[0, 0])
        values[f"{name}g"] = y * (H @ y) - 0.5
    return values


def cell(plan: Plan) -> Cell:
    """The cell of `gaussians`."""
    return gaussians.cell(dimensions=DIMENSIONS, per_class=PER_CLASS, seed=plan.seed)


def make(work: Work, plan: Plan) -> Result:
    """The figure, and how good the paper's approximation is on these data."""
    result = if_finished(lambda: work(cell(plan)))
    if result is None:
        return Result({}, "", not_run=["two Gaussians"])
    numbers = _numbers(result)
    figure, axes = panels(1, 3, width=3.5, height=3.0)
    _heat(figure, axes[0, 0], result["inverse"])
    wrong = result["given"] != result["own"]
    _scatter(axes[0, 1], result["x"], result["cg"], result["own"], np.zeros_like(wrong))
    _scatter(axes[0, 2], result["x"], result["noisy_cg"], result["given"], wrong)
    figure.legend(
        *axes[0, 2].get_legend_handles_labels(),
        loc="outside lower right",
        ncols=4,
    )
    total, flipped = len(wrong), int(wrong.sum())
    caption = (
        f"{total // 2:,} examples of each of two Gaussians in {DIMENSIONS:,} dimensions with "
        f"covariance {DEVIATION**2:g} I and means +1 and -1 in the first dimension. Left: inverse "
        f"of the kernel matrix of all {total:,}, shown for {HEAT_MAP_EXAMPLES} examples "
        "of each class; colours "
        f"are linear up to {_LINEAR_UP_TO:g} and logarithmic beyond. Middle: CG-score "
        "against the first "
        f"dimension. Right: the same after {flipped:,} labels were flipped (plus signs), "
        "as many in each class; colours are the given labels. All scores are exact."
    )
    return Result(numbers, _text(numbers), {"": (figure, caption)})


def _signs(labels: NDArray[np.intp]) -> Array:
    return np.where(labels == 0, 1.0, -1.0)


def _numbers(result: CellResult) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    wrong = result["given"] != result["own"]
    x = result["x"]
    return {
        "examples": len(x),
        "flipped": int(wrong.sum()),
        "kernel": {name: result[name] for name in ("p", "q")},
        "inverse": {
            name: result[name]
            for name in ("diagonal", "off_diagonal", "within_classes", "between_classes")
        },
        "clean": _labelling_numbers(result, "", result["own"]),
        "noisy": _labelling_numbers(result, "noisy_", result["given"])
        | {
            "auroc_of_flipped": float(roc_auc_score(wrong, result["noisy_cg"])),
            "auroc_of_flipped_by_approximation": float(
                roc_auc_score(wrong, result["noisy_approx"])
            ),
            "mean_cg_of_flipped": float(result["noisy_cg"][wrong].mean()),
            "mean_cg_of_others": float(result["noisy_cg"][~wrong].mean()),
        },
    }


def _labelling_numbers(result: CellResult, name: str, labels: NDArray[np.intp]) -> dict[str, Any]:
    """Statistics of one labelling."""
    cg, approx, g, x = result[f"{name}cg"], result[f"{name}approx"], result[f"{name}g"], result["x"]
    error = np.abs(approx - cg)
    return {
        "cg_mean": float(cg.mean()),
        "cg_deviation": float(cg.std()),
        "g_mean": float(g.mean()),
        "g_beyond_half": float((g > 0.5).mean()),
        "approximation_mean": float(approx.mean()),
        "max_error": float(error.max()),
        "mean_error": float(error.mean()),
        "mean_error_in_deviations": float(error.mean() / cg.std()),
        "spearman_of_approximation": spearman(approx, cg),
        "pearson_of_approximation": float(np.corrcoef(approx, cg)[0, 1]),
        "spearman_of_linear_part": spearman(-g, cg),
        "spearman_with_distance": spearman(cg, np.abs(x)),
        "pearson_with_distance": float(np.corrcoef(cg, np.abs(x))[0, 1]),
        "spearman_with_own_side": spearman(cg, _signs(labels) * x),
    }


def _heat(figure: Any, axes: Axes, inverse: Array) -> None:
    from matplotlib.colors import SymLogNorm

    largest = float(np.abs(inverse).max())
    image = axes.imshow(
        inverse,
        cmap="RdBu_r",
        norm=SymLogNorm(_LINEAR_UP_TO, vmin=-largest, vmax=largest),
        interpolation="nearest",
    )
    bar = figure.colorbar(image, ax=axes, shrink=0.85)
    ticks = [-2, -0.5, -_LINEAR_UP_TO, 0, _LINEAR_UP_TO, 0.5, 2]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.ax.minorticks_off()
    axes.grid(visible=False)
    axes.set(xlabel="example", ylabel="example")


def _scatter(
    axes: Axes, x: Array, cg: Array, labels: NDArray[np.intp], wrong: NDArray[np.bool_]
) -> None:
    for c, (colour, label) in enumerate(zip(_COLOURS, _LABELS, strict=True)):
        right = (labels == c) & ~wrong
        axes.scatter(
            x[right], cg[right], s=5, color=colour, lw=0, label=f"label {label}", rasterized=True
        )
        marked = (labels == c) & wrong
        if marked.any():
            axes.scatter(
                x[marked],
                cg[marked],
                s=28,
                marker="+",
                color=colour,
                lw=1.1,
                label=f"flipped to {label}",
                rasterized=True,
            )
    axes.set(xlabel="first dimension", ylabel="CG-score")


def _text(numbers: dict[str, Any]) -> str:
    clean, noisy = numbers["clean"], numbers["noisy"]
    kernel, inverse = numbers["kernel"], numbers["inverse"]
    labels = {
        "mean CG-score": "cg_mean",
        "deviation of the CG-score": "cg_deviation",
        "mean of g": "g_mean",
        "share of examples with g above 1/2": "g_beyond_half",
        "mean of the approximation": "approximation_mean",
        "mean absolute error of the approximation": "mean_error",
        "the same in deviations of the CG-score": "mean_error_in_deviations",
        "largest absolute error": "max_error",
        "Spearman, approximation and CG-score": "spearman_of_approximation",
        "Pearson, approximation and CG-score": "pearson_of_approximation",
        "Spearman, its linear part -8 g and CG-score": "spearman_of_linear_part",
        "Spearman, CG-score and distance from the boundary": "spearman_with_distance",
        "Pearson, CG-score and distance from the boundary": "pearson_with_distance",
        "Spearman, CG-score and depth on the side of the label": "spearman_with_own_side",
    }
    rows = [[label, clean[name], noisy[name]] for label, name in labels.items()]
    summary = table(["", "right labels", f"{NOISE:.0%} flipped"], rows)
    return f"""Off the diagonal, the kernel matrix has the mean {kernel["p"]:.2e} within classes and
{kernel["q"]:.2e} between them; on the diagonal it is 1/2. The inverse has the mean size
{inverse["diagonal"]:.2f} on the diagonal and {inverse["off_diagonal"]:.3f} off it; with signs, its
entries off the diagonal have the mean {inverse["within_classes"]:.1e} within classes and
{inverse["between_classes"]:.1e} between them.

{summary}

The approximation is `8 g^2 - 8 g + 2`, where g is what an example shares with its own class less
what it shares with the other. It takes the inverse of the kernel matrix for 2 I, and its order is
that of -g only while g is small. Here g is not: its mean is {clean["g_mean"]:.2f}, and the parabola
turns at 1/2. With right labels the approximation is off by {clean["mean_error_in_deviations"]:.1f}
deviations of the CG-score on the mean, and its rank correlation with it is
{clean["spearman_of_approximation"]:.2f}; -g alone has {clean["spearman_of_linear_part"]:.2f}
({noisy["spearman_of_linear_part"]:.2f} with flipped labels). So its linear part explains the order
of scores, and the whole does not give their values: the many small entries off the diagonal of the
inverse add up.

Flipped labels are found by the CG-score with an AUROC of {noisy["auroc_of_flipped"]:.3f} (by the
approximation: {noisy["auroc_of_flipped_by_approximation"]:.3f}); their mean score is
{noisy["mean_cg_of_flipped"]:.2f}, that of the others {noisy["mean_cg_of_others"]:.2f}."""
