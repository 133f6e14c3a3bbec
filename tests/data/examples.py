"""A small table with classes, for tests of readers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

X = np.random.default_rng(0).standard_normal((12, 4))


Y = np.arange(12) % 3


def frame(**more: Any) -> pd.DataFrame:
    made: pd.DataFrame = pd.DataFrame(X, columns=list("abcd")).assign(**more)
    return made
