"""IDX files that lie, and parts that are missing."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

import cgscore
from cgscore.errors import SourceError


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("shape", "content"),
    [((2**31, 28, 28), b"\0" * 100), ((3, 2, 2), b"\0" * 11), ((3, 2, 2), b"\0" * 13)],
)
def test_idx_headers_that_lie(
    tmp_path: Path, shape: tuple[int, ...], content: bytes, packed: bool
) -> None:
    path = tmp_path / ("train-images-idx3-ubyte" + (".gz" if packed else ""))
    whole = struct.pack(">BBBB3I", 0, 0, 8, 3, *shape) + content
    path.write_bytes(gzip.compress(whole) if packed else whole)
    with pytest.raises(SourceError, match=r"promises|claims to hold|once read"):
        cgscore.read(path)


@pytest.mark.parametrize("head", [b"", b"\0\0", b"\1\0\10\3", b"\0\0\10\0", b"\0\0\10\377"])
def test_idx_files_that_are_none(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(head)
    with pytest.raises(SourceError, match="not an IDX file"):
        cgscore.read(path)


def test_idx_parts_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(struct.pack(">BBBB3I", 0, 0, 8, 3, 2, 1, 1) + b"ab")
    with pytest.raises(SourceError, match=r"labels-idx1-ubyte, the labels of .*, does not exist"):
        cgscore.read(tmp_path)
    with pytest.raises(SourceError, match="split must be train or test; got 'all'"):
        cgscore.read(tmp_path, split="all")
    with pytest.raises(SourceError, match="has no t10k-images"):
        cgscore.read(tmp_path, split="test")
    labels = tmp_path / "train-labels-idx1-ubyte"
    labels.write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 3) + b"abc")
    with pytest.raises(SourceError, match=r"holds 2 images, but .* shape \(3,\)"):
        cgscore.read(tmp_path)
