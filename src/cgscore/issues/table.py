"""Label issues as a table: verdicts of the noise model, or of the paper's detectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import CGScoreWarning, OptionError
from cgscore.issues.conflicts import Conflicts, find_conflicts
from cgscore.issues.judged import JudgedLabels
from cgscore.issues.noise_model import NoiseModel
from cgscore.issues.summary import IssueSummary
from cgscore.issues.verdicts import (
    Verdicts,
    expected_wrong,
    flag,
    promised,
)
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

DETECTORS = ("posterior", "margin", "cg", "partial", "sign")
MAX_AMBIGUOUS = 2 / 3  # an example is ambiguous if its best class is less probable than this
MIN_DOUBT = 0.2  # a label that is not flagged is hard to tell if it is wrong with this probability
MIN_CERTAIN = 0.9  # an example is atypical only if its class is at least this probable,
MIN_ATYPICAL_QUANTILE = 0.95  # and its CG at least this quantile of its class

RIDGE_HINT = (
    "These scores have ridge 0, as in the paper. The automatic ridge usually ranks wrong labels "
    'better: score with ridge="auto" (command line: --ridge auto).'
)
UNINFORMATIVE_HINT = (
    "Predictions from the other examples agree with the given labels no better than chance: these "
    "inputs do not predict the labels, so no label is flagged. Other features may help."
)
CONTESTED_PROMISE_HINT = (
    "No precision can be promised, so no label is flagged (except among identical inputs with "
    "different labels): labels that look wrong mostly name a similar class, so wrong labels cannot "
    "be told apart from classes that overlap."
)
OVERLAP_PROMISE_HINT = (
    "No precision can be promised, so no label is flagged (except among identical inputs with "
    "different labels): classes overlap so much in these inputs that even the examples predicted "
    "with most certainty are confused. Other features may help."
)
FEW_PROMISE_HINT = (
    "No label is flagged: too few labels look wrong with enough certainty to promise this "
    "precision. Ask for a lower precision, or omit it to flag every label that is more likely "
    "wrong than right."
)


@dataclass(frozen=True)
class LabelIssues:
    """The label issues of a result.

    Attributes
    ----------
    table : DataFrame
        One row per example, as `Scores.label_issues` returns it.
    summary : IssueSummary
        How many labels are wrong.
    """

    table: pd.DataFrame
    summary: IssueSummary

    def worst_first(self) -> pd.DataFrame:
        """The flagged rows, the worst first, with their positions."""
        return worst_first(self.table)


def find_issues(
    table: pd.DataFrame,
    labels: JudgedLabels,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    *,
    ridge: float,
    by: str,
    expected_noise: float | None,
    precision: float | None,
    stacklevel: int = 1,
) -> LabelIssues:
    """Which labels are wrong.

    Parameters
    ----------
    table : DataFrame
        `Scores.table`.
    labels : JudgedLabels
        What predictions say of them.
    classes : (k,) array
        The classes.
    codes : (n,) array
        The given class of every example.
    ridge : float
        Ridge of the scores.
    by, expected_noise, precision
        As for `Scores.label_issues`.
    stacklevel : int
        How many callers up the line is that a warning names.
    """
    check_detector(by, expected_noise, precision)
    predicted, chance = labels.predicted, labels.chance
    noise, verdicts = labels.noise, labels.verdicts
    j = codes[predicted]
    if chance:
        warnings.warn(UNINFORMATIVE_HINT, CGScoreWarning, stacklevel=stacklevel + 1)
    conflicts = find_conflicts(table, codes)
    certain = conflicts.members[predicted]
    wrong, low, high = expected_wrong(verdicts, noise, ~certain)
    in_conflicts = float(conflicts.wrong[predicted].sum())
    wrong, low, high = wrong + in_conflicts, low + in_conflicts, high + in_conflicts
    by_class = verdicts.wrong_by_class.copy()
    np.add.at(by_class, j[certain], (conflicts.wrong[predicted] + verdicts.right - 1)[certain])
    judged: Any = table[predicted]
    label_score = _label_score(judged, verdicts, by)
    if by == "posterior":
        label_score = np.where(certain, conflicts.share[predicted], label_score)
    flagged = np.zeros(len(codes), dtype=bool)
    if precision is None:
        flagged[predicted] = _flagged(judged, label_score, by, wrong, expected_noise)
    else:
        flagged[predicted] = promised(verdicts, noise, precision, ~certain)
        flagged |= conflicts.members & (conflicts.share <= 1 - precision)
    if by == "posterior":
        flagged &= ~conflicts.undecidable & ~_alone(codes)
    if chance and expected_noise is None:
        flagged &= conflicts.members
    summary = IssueSummary(
        by=by,
        examples=int(predicted.sum()),
        flagged=int(flagged.sum()),
        estimated_wrong=wrong,
        interval=(low, high),
        wrong_by_class=dict(zip(classes.tolist(), by_class.tolist(), strict=True)),
        noise_matrix=noise.T,
        anchors=noise.anchors,
        uninformative=chance,
        conflicts=conflicts.count,
        hard_to_tell=int((~flagged[predicted] & (verdicts.right < 1 - MIN_DOUBT)).sum()),
        contested=noise.contested,
        overlap=noise.overlap,
        hint=_hint(
            noise, chance=chance, ridge=ridge, precision=precision, flagged=bool(flagged.any())
        ),
    )
    issues = _issue_table(
        table, classes, codes, predicted, flagged, label_score, verdicts, conflicts
    )
    issues.attrs = summary.as_attrs()
    return LabelIssues(issues, summary)


def _hint(
    noise: NoiseModel, *, chance: bool, ridge: float, precision: float | None, flagged: bool
) -> str | None:
    """Advice to the reader, the most important first."""
    if chance:
        return UNINFORMATIVE_HINT
    if precision is not None and noise.contested:
        return CONTESTED_PROMISE_HINT
    if precision is not None and noise.overlap:
        return OVERLAP_PROMISE_HINT
    if precision is not None and not flagged:
        return FEW_PROMISE_HINT
    return RIDGE_HINT if ridge == 0 else None


def check_detector(by: str, expected_noise: float | None, precision: float | None) -> None:
    """Raise `OptionError` for options that `find_issues` does not accept."""
    if by not in DETECTORS:
        raise OptionError(f"by must be one of {', '.join(DETECTORS)}; got {by!r}.")
    if expected_noise is not None and precision is not None:
        raise OptionError("Give expected_noise or precision, not both.")
    for name, value in (("expected_noise", expected_noise), ("precision", precision)):
        if value is not None and not isinstance(value, int | float | np.number):
            raise OptionError(f"{name} must be a number; got {value!r}.")
    if expected_noise is not None and not expected_noise >= 0:
        raise OptionError(
            "expected_noise must be a share below 1, or a number of labels; got "
            f"{expected_noise!r}."
        )
    if precision is not None and not 0 < precision <= 1:
        raise OptionError(f"precision must be above 0 and at most 1; got {precision!r}.")
    if precision is not None and by != "posterior":
        raise OptionError(f"precision= needs probabilities, which by={by!r} does not give.")


def worst_first(issues: pd.DataFrame) -> pd.DataFrame:
    """The flagged rows of a table of issues by label score, with their ``position``."""
    placed: pd.DataFrame = issues.assign(position=range(len(issues)))  # ids may repeat
    flagged: pd.DataFrame = placed[placed["is_label_issue"]]
    ordered: pd.DataFrame = flagged.sort_values("label_score", kind="stable")
    return ordered


def _issue_table(
    table: pd.DataFrame,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    predicted: NDArray[np.bool_],
    flagged: NDArray[np.bool_],
    label_score: Array,
    verdicts: Verdicts,
    conflicts: Conflicts,
) -> pd.DataFrame:
    """One row per example; missing values where there is no verdict."""
    import pandas as pd

    best, second = _expand(verdicts.best, predicted, 0), _expand(verdicts.second, predicted, 0)
    confidence = _expand(verdicts.best_probability, predicted, np.nan)
    other = _expand(verdicts.other, predicted, 0)  # what a flagged label is suggested instead
    second[flagged] = np.where(best == other, second, best)[flagged]
    best[flagged] = other[flagged]
    confidence[flagged] = _expand(verdicts.other_probability, predicted, np.nan)[flagged]
    decided = flagged & conflicts.members & ~conflicts.undecidable & (conflicts.majority != codes)
    second[decided] = np.where(best == conflicts.majority, second, best)[decided]
    best[decided] = conflicts.majority[decided]
    shared = decided | (conflicts.undecidable & predicted)
    confidence[shared] = conflicts.majority_share[shared]
    kinds = _kinds(table, codes, best, confidence, flagged, conflicts)
    # Elsewhere the label counts for itself no more than in leave-one-out predictions.
    differs = _expand(verdicts.differs, predicted, False) & ~flagged & ~conflicts.members
    differs &= best == codes
    best[differs], second[differs] = other[differs], codes[differs]
    confidence[differs] = _expand(verdicts.other_probability, predicted, np.nan)[differs]
    issues: pd.DataFrame = pd.DataFrame(
        {
            "is_label_issue": flagged,
            "label_score": _expand(label_score, predicted, np.nan),
            "given_label": table["given_label"].to_numpy(),
            "predicted_label": _labels(classes[best], predicted),
            "confidence": confidence,
            "runner_up": _labels(classes[second], predicted),
            "kind": kinds,
            "conflict_group": pd.array(
                np.where(conflicts.members, conflicts.group, 0), dtype="Int64"
            ),
            "cg": table["cg"].to_numpy(),
            "margin": table["margin"].to_numpy(),
        },
        index=pd.Index(table["id"].to_numpy(), name="id"),
    )
    issues["conflict_group"] = issues["conflict_group"].mask(~conflicts.members)
    return issues


def _alone(codes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each example is the only one of its class: nothing is left to judge it by."""
    alone: NDArray[np.bool_] = np.bincount(codes)[codes] == 1
    return alone


def _expand(
    values: NDArray[Any], predicted: NDArray[np.bool_], missing: float | bool
) -> NDArray[Any]:
    """Values of the predicted examples in an array of all examples."""
    expanded = np.full(len(predicted), missing, dtype=values.dtype)
    expanded[predicted] = values
    return expanded


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
    rank_share: Array = (ranks - 0.5) / len(ranks)
    return rank_share


def _flagged(
    table: pd.DataFrame,
    label_score: Array,
    by: str,
    wrong: float,
    expected_noise: float | None,
) -> NDArray[np.bool_]:
    """Which labels a detector flags without a promise."""
    if expected_noise is None and by in ("margin", "sign"):
        rule = table["margin"] < 0 if by == "margin" else table["partial"] > 0
        return np.asarray(rule)
    if expected_noise is None and by in ("cg", "partial"):  # these rank, and have no threshold
        expected_noise = max(1.0, round(wrong))
    return flag(label_score, expected_noise=expected_noise)


def _labels(values: NDArray[Any], predicted: NDArray[np.bool_]) -> Any:
    """Labels as a column, missing where there is no verdict."""
    import pandas as pd

    series = pd.Series(values)
    if predicted.all():
        return series.to_numpy()
    nullable = series if series.dtype.kind == "f" else series.convert_dtypes()
    return nullable.mask(~predicted).array


def _kinds(
    table: pd.DataFrame,
    codes: NDArray[np.intp],
    best: NDArray[np.intp],
    confidence: Array,
    flagged: NDArray[np.bool_],
    conflicts: Conflicts,
) -> NDArray[Any]:
    """The kind of issue of each example; empty where there is none."""
    cg = table["cg"].to_numpy()
    kinds = np.full(len(codes), "", dtype=object)
    finite = np.isfinite(cg)
    high = np.full(len(codes), np.inf)
    for c in np.unique(codes):
        members = finite & (codes == c)
        if members.any():
            high[codes == c] = np.quantile(cg[members], MIN_ATYPICAL_QUANTILE)
    certain = (best == codes) & (confidence >= MIN_CERTAIN)
    kinds[certain & finite & (cg >= high)] = "atypical"
    kinds[confidence < MAX_AMBIGUOUS] = "ambiguous"
    kinds[flagged] = "wrong label"
    kinds[_alone(codes)] = "alone in its class"
    kinds[conflicts.members] = "conflicting duplicates"
    kinds[conflicts.undecidable] = "undecidable"
    return kinds
