"""Parquet files with very many columns."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import cgscore


@pytest.mark.slow
def test_a_wide_parquet_file_takes_time_in_proportion(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    seconds = {}
    for count in (1000, 16_000):
        values = np.random.default_rng(0).normal(size=(count, 100))
        table = pa.table({**{f"g{i}": one for i, one in enumerate(values)}, "label": [0, 1] * 50})
        pq.write_table(table, tmp_path / "t.parquet")
        cgscore.read(tmp_path / "t.parquet")
        start = time.process_time()
        assert cgscore.read(tmp_path / "t.parquet").X.shape == (100, count + 1)
        seconds[count] = time.process_time() - start
    assert seconds[16_000] < 64 * seconds[1000]  # 16 times the columns; 256 if it were quadratic
