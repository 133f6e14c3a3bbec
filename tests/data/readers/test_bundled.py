"""The datasets that ship with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore


@pytest.mark.parametrize("name", ["digits", "iris", "wine", "breast_cancer"])
def test_bundled_data(name: str) -> None:
    data = cgscore.read(f"sklearn:{name}")
    assert data.y is not None
    assert len(data) == len(data.y) == len(data.ids)
    assert data.class_names is not None
    assert len(data.class_names) == len(np.unique(data.y))
    assert (data.preprocessing == "none") == (name == "digits")
