"""Labels as given, and the task that they suggest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cgscore.errors import LabelError, OptionError
from cgscore.labels import as_labels, infer_task

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(1797) % 10, "classification"),  # digits
        (np.arange(500) % 60 + 1960, "classification"),  # years
        (np.arange(40) % 5 + 1, "classification"),  # ratings
        (np.arange(5000) % 100, "classification"),  # codes of classes
        (np.arange(200_000) % 5000, "classification"),  # many classes, many examples
        ((np.arange(90) % 3).astype(float), "classification"),
        (np.array(["1.5", "2.5"] * 5), "classification"),
        (np.array([True, False] * 5), "classification"),
        (RNG.integers(0, 10**6, 60), "classification"),  # too few values to tell
        (np.arange(1010) % 101, "classification"),  # 101 values are a tenth of the rows
        (np.arange(1009) % 101, "regression"),  # and here more than a tenth
        (np.linspace(0, 1, 8), "regression"),
        (RNG.integers(50, 900, 1000), "regression"),  # prices
        (np.arange(1, 6) * 0.5, "regression"),  # classes cannot have fractions
        (RNG.permutation(3000), "regression"),
    ],
)
def test_task_that_labels_suggest(y: Any, task: str) -> None:
    inferred, reason = infer_task(y)
    assert inferred == task
    assert reason.startswith("the labels ")
    labels = as_labels(y, len(y))
    assert (labels.task, labels.reason) == (task, reason)


def test_task_of_distinct_labels_of_many_rows() -> None:
    assert infer_task(np.arange(150))[0] == "regression"
    assert infer_task(np.arange(150), rows=100_000)[0] == "classification"


def test_a_given_task_needs_no_reason() -> None:
    y = np.arange(300)
    labels = as_labels(y, 300, "classification")
    assert labels.reason is None
    assert len(labels.classes) == 300
    with pytest.raises(LabelError, match="fractions such as"):
        as_labels(y + 0.5, 300, "classification")
    with pytest.raises(OptionError, match="task must be one of auto, classification, regression"):
        as_labels(y, 300, "ranking")
