"""The columns that explain suspected labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cgscore.report.informative_columns import informative_columns


def test_columns_that_separate_the_classes_come_first() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 50)
    frame = pd.DataFrame(
        {
            "noise": rng.standard_normal(100),
            "number": 3.0 * codes + 0.1 * rng.standard_normal(100),
            "text": np.where(codes == 1, "high", "low"),
            "constant": 1.0,
        }
    )
    given = codes.copy()
    given[[3, 60]] = 1 - codes[[3, 60]]
    suspects = np.array([3, 60])
    columns = informative_columns(frame, given, suspects, codes[suspects])
    assert columns.columns.tolist()[:2] in (["number", "text"], ["text", "number"])
    assert columns["text"].tolist() == ["low", "high"]
