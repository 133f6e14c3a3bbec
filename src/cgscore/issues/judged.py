"""Everything about labels that needs the predictions for all classes, so that these can be let go.

Where predictions are not kept (`cgscore.score`, ``keep_predictions``), this is made once, while
they are there, and saved with the result in their place: some numbers for each example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import OptionError
from cgscore.issues.border import Hypotheses, Hypothesis
from cgscore.issues.calibration import Calibration
from cgscore.issues.noise_model import NoiseModel, estimate_noise
from cgscore.issues.summary import MAX_MATRIX_CLASSES
from cgscore.issues.verdicts import Verdicts, judge, uninformative
from cgscore.typing import Array, Index
from cgscore.valuation import margin, missing

#: Arrays of `Verdicts` with one number for each example, and those among them that are classes.
VERDICTS = (
    "right",
    "best",
    "second",
    "best_probability",
    "second_probability",
    "other",
    "other_probability",
    "differs",
)
CLASSES = ("best", "second", "other")
MARGIN, RIGHT_UNDER = "margin", "right_under_"


@dataclass(frozen=True)
class JudgedLabels:
    """Labels, judged by leave-one-out predictions.

    Attributes
    ----------
    predicted : (n,) array of bool
        Which examples have a prediction for every class.
    chance : bool
        Whether predictions agree with the labels no better than chance.
    noise : NoiseModel
        How labels go wrong.
    verdicts : Verdicts
        Of the examples with predictions.
    margin : (n,) array
        The prediction of the given class minus the best other one.
    """

    predicted: NDArray[np.bool_]
    chance: bool
    noise: NoiseModel
    verdicts: Verdicts
    margin: Array

    def vectors(self) -> dict[str, Array]:
        """One number for each example under each name, for a file; all must have predictions."""
        content = {name: getattr(self.verdicts, name) for name in VERDICTS}
        content[MARGIN] = self.margin
        for number, right in enumerate(self.verdicts.right_by_hypothesis):
            content[f"{RIGHT_UNDER}{number}"] = right
        return {name: np.asarray(values, np.float64) for name, values in content.items()}

    def facts(self) -> dict[str, Any]:
        """What else there is to know, in types that JSON can write."""
        noise, k = self.noise, len(self.noise.T)
        border = noise.border
        return {
            "chance": self.chance,
            "anchors": noise.anchors,
            "contested": noise.contested,
            "overlap": noise.overlap,
            "odds_factor": noise.odds_factor,
            "direction": None if border is None or np.isnan(border.direction) else border.direction,
            "hypotheses": [
                {
                    "strength": each.strength,
                    "sharpness": each.sharpness,
                    "weight": each.weight,
                    "plausibility": each.plausibility,
                }
                for each in noise.hypotheses
            ],
            "noise_matrix": noise.T.tolist() if k <= MAX_MATRIX_CLASSES else None,
        }


def judge_labels(loo: Array, codes: Index) -> JudgedLabels:
    """Judge every label that has predictions.

    Raises
    ------
    OptionError
        No example has a prediction for every class.
    """
    predicted = ~missing(loo)
    if not predicted.any():
        raise OptionError(
            "No example has a prediction for every class. Score with more runs, or with another "
            "method than subsample."
        )
    F, j = loo if predicted.all() else loo[predicted], codes[predicted]
    noise = estimate_noise(F, j)
    return JudgedLabels(
        predicted, uninformative(F, j), noise, judge(F, j, noise), margin(loo, codes)
    )


def restored(
    vectors: Mapping[str, Array], facts: Mapping[str, Any], codes: Index, k: int
) -> JudgedLabels:
    """What `JudgedLabels.vectors` and `JudgedLabels.facts` were made from.

    Noise matrices of very many classes are not saved: they come back without columns.
    """
    matrix = facts["noise_matrix"]
    T = np.empty((k, 0)) if matrix is None else np.array(matrix, np.float64)
    members = tuple(Hypothesis(odds=T, **each) for each in facts["hypotheses"])
    direction = float("nan") if facts["direction"] is None else float(facts["direction"])
    border = Hypotheses(
        members, direction, facts["contested"], facts["overlap"], facts["odds_factor"]
    )
    arrays: dict[str, Any] = {name: vectors[name] for name in VERDICTS}
    arrays |= {name: arrays[name].astype(np.intp) for name in CLASSES}
    arrays["differs"] = arrays["differs"] != 0
    verdicts = Verdicts(
        wrong_by_class=np.bincount(codes, 1 - arrays["right"], minlength=k).astype(float),
        right_by_hypothesis=np.stack(
            [vectors[f"{RIGHT_UNDER}{number}"] for number in range(len(members))]
        ),
        **arrays,
    )
    noise = NoiseModel(T, Calibration(1.0), facts["anchors"], border)
    everybody = np.ones(len(codes), bool)
    return JudgedLabels(everybody, facts["chance"], noise, verdicts, vectors[MARGIN])
