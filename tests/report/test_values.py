"""Values as the document of a page holds them."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from cgscore.report.values import finite, packed, short, sure


def test_texts_are_cut_and_turn_nothing_round() -> None:
    assert short("plain") == "plain"
    assert short("x" * 12, 10) == "xxxxxxxxxx… (12 characters)"
    assert short("x" * 10, 10) == "x" * 10
    assert short("a\u202eb") == "a\\u202eb"
    assert short(3.5) == "3.5"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_json_cannot_hold_is_null(value: float) -> None:
    assert finite(value) is None
    assert finite(np.float32(1) / 3) == 0.333333


def test_packed_numbers_come_back() -> None:
    values = np.array([0, 1, 255])
    for dtype in ("<u1", "<u2", "<f4"):
        back = np.frombuffer(base64.b64decode(packed(values, dtype)), dtype)
        assert back.tolist() == values.tolist()


def test_nothing_is_certain() -> None:
    assert [sure(p) for p in (0.5, 0.98, 0.994, 0.996, 1.0)] == [
        "50 %",
        "98 %",
        "99 %",
        "> 99 %",
        "> 99 %",
    ]
