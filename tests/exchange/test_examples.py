"""What is exported about an example."""

from __future__ import annotations

import numpy as np
import pandas as pd

import cgscore
from cgscore.exchange.captions import Captions
from cgscore.exchange.examples import Examples


def test_no_reason_claims_certainty() -> None:
    X = np.random.default_rng(0).standard_normal((60, 4)) + 4 * np.eye(3, 4)[np.arange(60) % 3]
    scores = cgscore.score(X, np.array(list("abc" * 20)), ridge=0.1)
    flagged = np.arange(60) < 3
    issues = pd.DataFrame(
        {
            "is_label_issue": flagged,
            "label_score": np.where(flagged, 0.0, 1.0),
            "predicted_label": "b",
            "confidence": np.r_[1.0, 0.9996, 0.7, np.ones(57)],
            "kind": np.where(flagged, "wrong label", ""),
        }
    )
    examples = Examples(scores, None, issues, np.arange(4), Captions(scores))
    assert [example.reason for example in examples] == [
        "Labelled a; the other examples say b (> 99 %).",
        "Labelled b; the other examples say b (> 99 %).",
        "Labelled c; the other examples say b (70 %).",
        "",
    ]
