"""Saved Hugging Face datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cgscore
from cgscore.errors import SourceError


def test_a_saved_dataset_cannot_point_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": "../../etc/passwd"}]})
    )
    with pytest.raises(SourceError, match="does not name the data files beside it"):
        cgscore.read(tmp_path)
    (tmp_path / "state.json").write_text("[" * 100_000)
    with pytest.raises(SourceError, match="not a complete description"):
        cgscore.read(tmp_path)
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["../other"]}))
    with pytest.raises(SourceError, match="no list of splits"):
        cgscore.read(tmp_path)
