"""Arrays of numpy, honest and not."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.data.examples import X, Y

import cgscore
from cgscore.errors import LabelError, SourceError


def test_npz_keeps_numbers_labels_and_names(tmp_path: Path) -> None:
    path = tmp_path / "d.npz"
    np.savez(path, X=X.astype(np.float32), y=Y, ids=[f"row{i}" for i in range(12)])
    data = cgscore.read(path)
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.y, Y)
    assert data.ids[3] == "row3"
    assert data.source == str(path)
    assert data.preprocessing == "none"


def test_npy_with_labels_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    (tmp_path / "y.txt").write_text("\n".join(map(str, Y)) + "\n")
    (tmp_path / "names.txt").write_text("\n".join("abc"[i] for i in Y))
    by_array = cgscore.read(tmp_path / "x.npy", labels=Y)
    for name in ("y.npy", "y.txt"):
        data = cgscore.read(tmp_path / "x.npy", labels=tmp_path / name)
        np.testing.assert_array_equal(data.y, Y)
        assert data.fingerprint == by_array.fingerprint
    data = cgscore.read(tmp_path / "x.npy", labels=str(tmp_path / "names.txt"))
    assert data.y is not None
    assert data.y.tolist() == ["abc"[i] for i in Y]
    with pytest.raises(LabelError, match="labels="):
        cgscore.read(tmp_path / "x.npy")


def npy_header(shape: tuple[int, ...], text: str = "") -> bytes:
    header = text or repr({"descr": "<f8", "fortran_order": False, "shape": shape})
    padded = header.ljust(118 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode()


def test_an_npy_header_that_promises_a_terabyte(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy_header((10**12,)) + b"\0" * 64)
    with pytest.raises(SourceError, match=r"its header promises 8,000,000,000,000"):
        cgscore.read(path, labels=[0, 1])


def test_an_npz_member_that_promises_a_terabyte(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy_header((10**6, 10**6)))
        archive.writestr("y.npy", npy_header((10**6,)))
    with pytest.raises(SourceError, match=r"X\.npy. of .* its header promises"):
        cgscore.read(path)
