"""Data for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def write_table(path: Path, **more: object) -> None:
    """A .csv file of 60 examples with four numbers each, in three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4)) + 2 * np.eye(3, 4)[y]
    pd.DataFrame(X).add_prefix("x").assign(label=y, **more).to_csv(path, index=False)
