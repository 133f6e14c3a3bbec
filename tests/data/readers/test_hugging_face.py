"""Hugging Face datasets: saved, and in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

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


@pytest.mark.needs("datasets")
def test_images_may_be_files_that_a_dataset_in_memory_names(tmp_path: Path) -> None:
    import datasets

    pixels = np.random.default_rng(0).integers(0, 256, (4, 8, 9, 3), dtype=np.uint8)
    paths = [str(tmp_path / f"{i}.png") for i in range(4)]
    for path, image in zip(paths, pixels, strict=True):
        Image.fromarray(image).save(path)

    def dataset(paths: list[str]) -> Any:
        columns = {"image": paths, "label": [0, 1, 0, 1]}
        return datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())

    data = cgscore.read(dataset(paths))
    np.testing.assert_array_equal(data.X, pixels)
    np.testing.assert_array_equal(np.asarray(data.picture(3)), pixels[3])
    missing = dataset([*paths[:3], str(tmp_path / "none.png")])
    with pytest.raises(SourceError, match=r"image in row 3 .*No such file"):
        cgscore.read(missing)
    assert len(cgscore.read(missing, skip_bad=True)) == 3


def test_a_file_cannot_name_other_files_as_images(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "a.png")
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    images = pa.array([{"bytes": None, "path": str(tmp_path / "a.png")}] * 4, kind)
    pq.write_table(pa.table({"image": images, "label": [0, 1, 0, 1]}), tmp_path / "t.parquet")
    with pytest.raises(SourceError, match="is not an image"):
        cgscore.read(tmp_path / "t.parquet")
