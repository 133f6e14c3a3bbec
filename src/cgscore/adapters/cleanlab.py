"""cleanlab: class probabilities for `find_label_issues`; the issue type ``cg_score`` of Datalab.

Importing this module registers the issue type with Datalab::

    import cgscore.adapters.cleanlab
    lab = Datalab(data, label_name="label")
    lab.find_issues(issue_types={"cg_score": {"features": X}})          # scored here, or
    lab.find_issues(issue_types={"cg_score": {"scores": scores}})       # scored before
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from cleanlab.datalab.internal.issue_manager import IssueManager
from cleanlab.datalab.internal.issue_manager_factory import register
from numpy.typing import NDArray

from cgscore.api import score
from cgscore.errors import OptionError
from cgscore.issues.noise_model import estimate_noise
from cgscore.issues.table import LabelIssues
from cgscore.result.scores import Scores
from cgscore.typing import Array


def pred_probs(scores: Scores) -> Array:
    """Calibrated out-of-sample class probabilities, (n, k), in the order of `Scores.classes`.

    Leave-one-out predictions, turned into probabilities of the true class with label noise taken
    into account (`cgscore.issues.calibration`). Use them with `labels` of the same result wherever
    cleanlab takes ``pred_probs``.
    """
    _refuse_regression(scores)
    unknown = int(np.isnan(scores.judging_loo).any(axis=1).sum())
    if unknown:
        raise OptionError(
            f"{unknown:,} examples have no leave-one-out prediction. Score with more runs, or with "
            "another method than subsample."
        )
    noise = estimate_noise(scores.judging_loo, scores.codes())
    return noise.calibration.probabilities(scores.judging_loo)


def labels(scores: Scores) -> NDArray[np.intp]:
    """Given labels as cleanlab numbers them: 0 to k - 1, in the order of `Scores.classes`."""
    _refuse_regression(scores)
    return scores.codes()


def _refuse_regression(scores: Scores) -> None:
    if not len(scores.classes):
        raise OptionError("cleanlab needs classes; these scores are of a regression.")


@register
class CGScoreIssueManager(IssueManager):  # type: ignore[misc]
    """Label errors by leave-one-out predictions.

    `Datalab.get_issues` returns ``is_cg_score_issue`` and ``cg_score_score``, the probability that
    a label is right. `Datalab.get_info` returns the most probable class (``predicted_label``), the
    complexity-gap score (``cg``) and the estimated number of wrong labels.
    """

    description: ClassVar[str] = (
        "Examples whose label the other examples contradict, by kernel regression without "
        "training (complexity-gap score)."
    )
    issue_name: ClassVar[str] = "cg_score"
    verbosity_levels: ClassVar[dict[int, list[str]]] = {0: [], 1: ["estimated_wrong"], 2: [], 3: []}

    def find_issues(
        self,
        *,
        scores: Scores | None = None,
        features: Any = None,
        ridge: float | str = "auto",
        **_: Any,
    ) -> None:
        """Judge every label, by given scores or by scoring these features.

        Parameters
        ----------
        scores : Scores, optional
            Scores of the same examples with the same labels.
        features : (n, p) array, optional
            Inputs to score.
        ridge : float or "auto"
            As for `cgscore.score`.
        """
        given = np.asarray(self.datalab.class_names)[self.datalab.labels]
        if scores is None:
            if features is None:
                raise OptionError(
                    "The issue type cg_score needs features= or scores=; got neither."
                )
            scores = score(features, given, ridge=ridge, progress=False)
        elif len(scores) != len(given):
            raise OptionError(
                f"scores must have {len(given):,} examples, as Datalab has; got {len(scores):,}."
            )
        elif not np.array_equal(scores.codes(), np.unique(given, return_inverse=True)[1]):
            raise OptionError("scores have other labels than Datalab, or another order of rows.")
        issues = scores.find_issues()
        table = issues.table
        self.issues = pd.DataFrame(
            {
                f"is_{self.issue_name}_issue": table["is_label_issue"].to_numpy(),
                self.issue_score_key: table["label_score"].to_numpy(),
            }
        )
        self.summary = self.make_summary(score=float(table["label_score"].mean()))
        self.info = self.collect_info(scores, issues)

    def collect_info(self, scores: Scores, issues: LabelIssues) -> dict[str, Any]:
        """The value of `Datalab.get_info`."""
        return {
            "estimated_wrong": issues.summary.estimated_wrong,
            "interval": list(issues.summary.interval),
            "ridge": scores.meta["ridge"],
            "cg": scores.table["cg"].to_numpy(),
            "predicted_label": issues.table["predicted_label"].to_numpy(),
        }
