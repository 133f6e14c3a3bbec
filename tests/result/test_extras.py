"""Further scores, from the data that were scored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.errors import OptionError


def test_extra_after_loading_reads_the_source_again(tmp_path: Path) -> None:
    source = tmp_path / "data.npz"
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 5)), np.arange(20) % 2
    np.savez(source, X=X, y=y)
    s = cgscore.score(cgscore.read(source))
    s.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(back.extra(), s.extra())
    np.savez(source, X=X + 1, y=y)
    back = cgscore.load(tmp_path / "s.parquet")
    with pytest.raises(OptionError, match=r"fingerprint differs\. .*: data=\.\.\.$"):
        back.extra("cg_prime")
    source.unlink()
    with pytest.raises(OptionError, match=r"data\.npz\) is not there\. .*: data=\.\.\.$"):
        back.extra("cg_prime")
    pd.testing.assert_frame_equal(back.extra(data=X), s.extra())
