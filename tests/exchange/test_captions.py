"""Captions: distinct lines of text for classes, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cgscore
from cgscore.exchange.captions import MAX_CAPTION, Captions


class Result:
    """What captions need of a result."""

    def __init__(self, labels: list[Any], names: list[str] | None = None) -> None:
        self.classes = np.array(labels)
        self._names = names or [str(label) for label in labels]

    def class_names(self) -> dict[Any, str]:
        return dict(zip(self.classes.tolist(), self._names, strict=True))


def captions(labels: list[Any], names: list[str] | None = None, **more: Any) -> Captions:
    result: Any = Result(labels, names)
    return Captions(result, **more)


@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), min_size=2, unique=True))
def test_every_class_has_a_line_of_its_own_and_comes_back(labels: list[str]) -> None:
    labels = sorted(set(np.array(labels).tolist()))
    found = captions(labels, replaced={"$": "＄"})
    assert len(set(found.texts)) == len(labels)
    for code, text in enumerate(found.texts):
        assert text.isprintable()
        assert text == text.strip()
        assert 0 < len(text) <= MAX_CAPTION + 20
        assert "$" not in text
        assert found.code(text) == code


def test_names_count_before_labels() -> None:
    swapped = captions([0, 1], ["1", "0"])
    assert [swapped.code(text) for text in ("1", "0")] == [0, 1]
    repeated = captions([3, 7], ["same", "same"])
    assert repeated.texts == ["3", "7"]
    assert repeated.code("same") is None
    named = captions([3, 7], ["cat", "dog"])
    assert [named.code(text) for text in ("dog", "7", "7.0", " DOG ")] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("labels", "text", "code"),
    [
        (["01", "02"], "2", 1),
        (["01", "1"], "1", 1),
        (["01", "1"], "01", 0),
        (["01", "1"], "1.0", None),
        (["True", "no"], "TRUE", 0),
        (["No", "no"], "NO", None),
        (["a", "b"], "c", None),
        (["a", "nan"], "nan", 1),
        (["a", "b"], "nan", None),
        ([-1, 1], "-1", 0),
        ([-1.5, 1.0], "1", 1),
        ([False, True], "true", 1),
        (["", "x"], "(empty)", 0),
        (["a\nb", "a b"], "a b (2)", 1),
        (["x" * 500, "x" * 501], "x" * MAX_CAPTION, 0),
    ],
)
def test_what_spreadsheets_make_of_labels(labels: list[Any], text: str, code: int | None) -> None:
    assert captions(labels).code(text) == code


def test_a_regression_has_none() -> None:
    y = np.linspace(0, 1, 30)
    scores = cgscore.score(np.c_[y, np.ones(30)], y, ridge=0.1, task="regression")
    assert Captions(scores).texts == []
