"""How values of suspects compare with their two classes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cgscore.report.column_fit import column_fits


def test_values_speak_for_the_class_they_resemble() -> None:
    codes = np.repeat([0, 1], 20)
    frame = pd.DataFrame(
        {
            "size": np.where(codes == 1, 10.0, 2.0),
            "colour": np.where(codes == 1, "red", "blue"),
            "same": 1.0,
            "missing": np.nan,
            "even": np.arange(40) % 2 == 0,
        }
    )
    frame.loc[3, "size"] = 9.5  # labelled 0, and like class 1
    frame.loc[3, "colour"] = "red"
    fits, typical = column_fits(frame, codes, np.array([3, 30]), np.array([1, 0]))
    assert fits[0].tolist()[:4] == [1, 1, 0, 0]
    assert fits[1].tolist()[:4] == [-1, -1, 0, 0]  # this one fits its own class
    assert typical[0] == {0: "2.375", 1: "10"}
    assert typical[1] == {0: "blue (95%)", 1: "red (100%)"}
    assert typical[3] == {}
    assert set(typical[4].values()) <= {"True (50%)", "False (50%)"}
