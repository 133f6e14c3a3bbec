"""Who delivered the wrong labels, what several annotators say together, and what batches are worth.

Labels of the digits are made wrong by simulated people, so the findings can be compared with the
truth. ::

    python examples/sources.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import cgscore


def careless(y: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Labels of somebody who is wrong at this rate."""
    wrong = rng.random(len(y)) < rate
    return (y + wrong * rng.integers(1, 10, len(y))) % 10


def one_label_each() -> None:
    """Every label has a source; one source is careless."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rates = {"ann": 0.02, "bob": 0.25, "cyd": 0.02, "dan": 0.05}
    who = rng.choice(list(rates), len(y))
    labels = y.copy()
    for name, rate in rates.items():
        labels[who == name] = careless(y[who == name], rate, rng)
    table = pd.DataFrame(X).add_prefix("pixel").assign(label=labels, annotator=who)
    table["batch"] = np.arange(len(y)) // 300

    scores = cgscore.score(table, source_column="annotator", group_column="batch")
    sources = scores.sources()
    sources["truth"] = [(labels != y)[who == name].mean() for name in sources["source"]]
    print(sources[["source", "examples", "rate", "low", "high", "differs", "truth"]].round(3))
    groups = scores.groups()
    print(groups[["group", "examples", "gap"]].assign(each=groups["gap"] / groups["examples"]))


def several_labels_each() -> None:
    """Six people of different care label a third of the digits each."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(1)
    table = pd.DataFrame(X).add_prefix("pixel")
    people = [f"person-{i}" for i in range(6)]
    for name, rate in zip(people, (0.05, 0.1, 0.2, 0.4, 0.6, 0.6), strict=True):
        table[name] = np.where(rng.random(len(y)) < 1 / 3, careless(y, rate, rng), np.nan)
    labelled = table[people].notna().any(axis=1)
    table, y = table[labelled], y[labelled]

    scores = cgscore.score(table, annotator_columns=people)
    print(scores.annotators().round(3))
    majority = np.mean(scores.data().y == y)
    consensus = np.mean(scores.table["given_label"] == y)
    print(f"right labels: {majority:.3f} by majority, {consensus:.3f} by consensus")


if __name__ == "__main__":
    one_label_each()
    several_labels_each()
