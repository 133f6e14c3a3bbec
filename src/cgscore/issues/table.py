"""The table of label issues: verdicts in words, and the paper's detectors beside them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import CGScoreWarning, OptionError
from cgscore.issues.noise_model import (
    Verdicts,
    estimate_noise,
    flagged,
    interval,
    judge,
    uninformative,
)
from cgscore.kernel import Array

if TYPE_CHECKING:
    import pandas as pd

DETECTORS = ("posterior", "margin", "cg", "partial", "sign")
AMBIGUOUS = 2 / 3  # probability of the best class below which two share an example
CERTAIN = 0.9  # probability from which a prediction agrees without doubt
ATYPICAL = 0.95  # quantile of CG in a class from which an example is atypical

WIDEST = 100  # classes up to which the matrix of noise is told

HINT = (
    "These scores have ridge 0, the paper's. The automatic ridge ranks wrong labels better: "
    'ridge="auto", at the command line --ridge auto.'
)
DOUBT = (
    "What the other examples predict agrees with the given labels no better than chance: these "
    "inputs tell nothing about the labels, and no label is flagged. Other features may help."
)


def issue_table(
    table: pd.DataFrame,
    loo: Array,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    ridge: float,
    by: str,
    expected_noise: float | None,
    precision: float | None,
) -> pd.DataFrame:
    """What `Scores.label_issues` returns, from a table of scores and leave-one-out predictions."""
    import pandas as pd

    check_detector(by, expected_noise, precision)
    n = len(loo)
    known: NDArray[np.bool_] = ~np.logical_or.reduce(np.isnan(loo), axis=1)
    seen: Any = table[known]
    if not known.any():
        raise OptionError(
            "No example has predictions for all classes: more runs, or another method than "
            "subsample, are needed."
        )
    F, j = loo[known], codes[known]
    blind = uninformative(F, j)
    if blind:
        warnings.warn(DOUBT, CGScoreWarning, stacklevel=3)
    noise = estimate_noise(F, j)
    verdicts = judge(F, j, noise)
    wrong, low, high = interval(verdicts.right, noise)
    right, marked = np.full(n, np.nan), np.zeros(n, dtype=bool)
    right[known] = _label_score(seen, verdicts, by)
    marked[known] = _marked(
        seen, right[known], by, wrong, expected_noise=expected_noise, precision=precision
    )
    if blind and expected_noise is None:
        marked[:] = False
    best, second = np.zeros(n, np.intp), np.zeros(n, np.intp)
    sure, next_sure = np.full(n, np.nan), np.full(n, np.nan)
    best[known], second[known] = verdicts.best, verdicts.second
    sure[known], next_sure[known] = verdicts.sure, verdicts.next_sure
    turned = marked & (best == codes)  # a suspect is suggested another label than it has
    best[turned], second[turned] = second[turned], best[turned]
    sure[turned] = next_sure[turned]
    found: pd.DataFrame = pd.DataFrame(
        {
            "is_label_issue": marked,
            "label_score": right,
            "given_label": table["given_label"].to_numpy(),
            "predicted_label": _labels(classes[best], known),
            "confidence": sure,
            "runner_up": _labels(classes[second], known),
            "kind": _kinds(table, codes, best, sure, marked),
            "cg": table["cg"].to_numpy(),
            "margin": table["margin"].to_numpy(),
        },
        index=pd.Index(table["id"].to_numpy(), name="id"),
    )
    found.attrs = {
        "by": by,
        "estimated_wrong": wrong,
        "interval": [low, high],
        "wrong_by_class": dict(
            zip(map(str, classes.tolist()), verdicts.wrong_by_class.tolist(), strict=True)
        ),
        "noise_matrix": noise.T.tolist() if len(classes) <= WIDEST else None,
        "anchors": noise.anchors,
        "blind": blind,
        "hint": DOUBT if blind else HINT if ridge == 0 else None,
    }
    return found


def check_detector(by: str, expected_noise: float | None, precision: float | None) -> None:
    """Refuse options of `issue_table` that make no sense."""
    if by not in DETECTORS:
        raise OptionError(f"by={by!r} is not known. Choose one of: {', '.join(DETECTORS)}.")
    if expected_noise is not None and precision is not None:
        raise OptionError("Give expected_noise or precision, not both.")
    for name, value in (("expected_noise", expected_noise), ("precision", precision)):
        if value is not None and not isinstance(value, int | float | np.number):
            raise OptionError(f"{name}={value!r} is not a number.")
    if expected_noise is not None and not expected_noise >= 0:
        raise OptionError(
            f"expected_noise={expected_noise!r} makes no sense. Expected a share below 1 or a "
            "number of labels."
        )
    if precision is not None and not 0 < precision <= 1:
        raise OptionError(f"precision={precision!r} makes no sense. Expected a share up to 1.")
    if precision is not None and by != "posterior":
        raise OptionError(f"precision= needs probabilities, which by={by!r} does not give.")


def _label_score(table: pd.DataFrame, verdicts: Verdicts, by: str) -> Array:
    """Probabilities, or for other detectors the share of examples that are more suspicious."""
    if by == "posterior":
        return verdicts.right
    values = {
        "margin": table["margin"],
        "cg": -table["cg"],
        "partial": -table["partial"],
        "sign": -table["partial"],
    }[by]
    ranks = values.rank(method="average").to_numpy()
    share: Array = (ranks - 0.5) / len(ranks)
    return share


def _marked(
    table: pd.DataFrame,
    right: Array,
    by: str,
    wrong: float,
    *,
    expected_noise: float | None,
    precision: float | None,
) -> NDArray[np.bool_]:
    if expected_noise is None and by in ("margin", "sign"):
        rule = table["margin"] < 0 if by == "margin" else table["partial"] > 0
        return np.asarray(rule)
    if expected_noise is None and by in ("cg", "partial"):  # they rank, and decide nothing
        expected_noise = max(1.0, round(wrong))
    return flagged(right, expected_noise=expected_noise, precision=precision)


def _labels(values: NDArray[Any], known: NDArray[np.bool_]) -> Any:
    import pandas as pd

    series = pd.Series(values)
    if known.all():
        return series.to_numpy()
    kept = series if series.dtype.kind == "f" else series.convert_dtypes()
    return kept.mask(~known).array


def _kinds(
    table: pd.DataFrame,
    codes: NDArray[np.intp],
    best: NDArray[np.intp],
    sure: Array,
    marked: NDArray[np.bool_],
) -> NDArray[Any]:
    """One word for what is the matter; empty where nothing is."""
    cg = table["cg"].to_numpy()
    kinds = np.full(len(codes), "", dtype=object)
    finite = np.isfinite(cg)
    high = np.full(len(codes), np.inf)
    for c in np.unique(codes):
        mine = finite & (codes == c)
        if mine.any():
            high[codes == c] = np.quantile(cg[mine], ATYPICAL)
    kinds[(best == codes) & (sure >= CERTAIN) & finite & (cg >= high)] = "atypical"
    kinds[sure < AMBIGUOUS] = "ambiguous"
    kinds[marked] = "wrong label"
    kinds[np.bincount(codes)[codes] == 1] = "alone in its class"
    kinds[_in_conflict(table, codes)] = "conflicting duplicates"
    return kinds


def _in_conflict(table: pd.DataFrame, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Examples that have a copy with another label."""
    conflict: NDArray[np.bool_] = np.isinf(table["cg"].to_numpy())  # as with ridge 0
    first = first_copies(table)
    conflict |= np.isin(first, first[codes != codes[first]])
    return conflict


def first_copies(table: pd.DataFrame) -> NDArray[np.intp]:
    """For every example the position of the first that is identical: its own if there is none.

    Where ids repeat, ``duplicate_of`` is taken for the first example of that id.
    """
    group = np.arange(len(table))
    if "duplicate_of" in table.columns:
        copies = table["duplicate_of"].notna().to_numpy()
        rows = np.flatnonzero(~copies)[::-1]  # so that of a repeated id the first counts
        first = dict(zip(table["id"].iloc[rows], rows, strict=True))
        group[copies] = [first[name] for name in table["duplicate_of"][copies]]
    return group


def worst_first(found: pd.DataFrame) -> pd.DataFrame:
    """Flagged rows by label score, with their positions; ids may repeat."""
    placed: pd.DataFrame = found.assign(position=range(len(found)))
    marked: pd.DataFrame = placed[placed["is_label_issue"]]
    ordered: pd.DataFrame = marked.sort_values("label_score", kind="stable")
    return ordered
