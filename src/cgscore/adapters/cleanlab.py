"""cleanlab: class probabilities for `find_label_issues`; the issue type ``cg_score`` of Datalab.

Importing this module makes the issue type known to Datalab::

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
from cgscore.kernel import Array
from cgscore.result.scores import Scores


def pred_probs(scores: Scores) -> Array:
    """Calibrated out-of-sample class probabilities, (n, k), in the order of `Scores.classes`.

    Leave-one-out predictions, turned into probabilities of the true class with label noise taken
    into account (`cgscore.issues.calibration`). With `labels` of the same result they serve
    wherever cleanlab asks for ``pred_probs``.
    """
    _refuse_regression(scores)
    unknown = int(np.isnan(scores.loo).any(axis=1).sum())
    if unknown:
        raise OptionError(f"{unknown:,} examples have no leave-one-out prediction.")
    return estimate_noise(scores.loo, scores.codes()).how.probabilities(scores.loo)


def labels(scores: Scores) -> NDArray[np.intp]:
    """Given labels as cleanlab counts them: 0 to k - 1, in the order of `Scores.classes`."""
    _refuse_regression(scores)
    return scores.codes()


def _refuse_regression(scores: Scores) -> None:
    if not len(scores.classes):
        raise OptionError("cleanlab is asked about classes; these scores are of a regression.")


@register
class CGScoreIssueManager(IssueManager):  # type: ignore[misc]
    """Label errors by leave-one-out predictions.

    `Datalab.get_issues` tells ``is_cg_score_issue`` and ``cg_score_score``, the probability that a
    label is right. `Datalab.get_info` has the most probable class (``predicted_label``), the
    complexity-gap score (``cg``) and the estimated number of wrong labels.
    """

    description: ClassVar[str] = (
        "Examples whose label all other examples contradict, by kernel regression without training "
        "(complexity-gap score)."
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
        """Judge every label, by scores made before or of these features.

        Parameters
        ----------
        scores : Scores, optional
            Of the same examples with the same labels.
        features : (n, p) array, optional
            Inputs to score.
        ridge : float or "auto"
            As for `cgscore.score`.
        """
        given = np.asarray(self.datalab.class_names)[self.datalab.labels]
        if scores is None:
            if features is None:
                raise OptionError("The issue type cg_score needs features or scores.")
            scores = score(features, given, ridge=ridge, progress=False)
        elif len(scores) != len(given):
            raise OptionError(f"{len(scores):,} scores for {len(given):,} examples.")
        elif not np.array_equal(scores.codes(), np.unique(given, return_inverse=True)[1]):
            raise OptionError("The scores are of other labels, or of rows in another order.")
        found = scores.label_issues()
        self.issues = pd.DataFrame(
            {
                f"is_{self.issue_name}_issue": found["is_label_issue"].to_numpy(),
                self.issue_score_key: found["label_score"].to_numpy(),
            }
        )
        self.summary = self.make_summary(score=float(found["label_score"].mean()))
        self.info = self.collect_info(scores, found)

    def collect_info(self, scores: Scores, found: pd.DataFrame) -> dict[str, Any]:
        """What `Datalab.get_info` tells beside verdicts."""
        return {
            "estimated_wrong": found.attrs["estimated_wrong"],
            "interval": found.attrs["interval"],
            "ridge": scores.meta["ridge"],
            "cg": scores.table["cg"].to_numpy(),
            "predicted_label": found["predicted_label"].to_numpy(),
        }
