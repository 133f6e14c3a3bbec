"""Batches of CIFAR: pickles that would run code, and pickles of something else."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import SourceError


class Command:
    """Runs a command when it is unpickled without care."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self._target}",)


def cifar(folder: Path, content: Any, protocol: int = 2) -> Path:
    for i in range(1, 6):
        (folder / f"data_batch_{i}").write_bytes(
            content if isinstance(content, bytes) else pickle.dumps(content, protocol)
        )
    meta = {b"label_names": [b"a", b"b"]}
    (folder / "batches.meta").write_bytes(pickle.dumps(meta, protocol=2))
    return folder


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_would_run_a_command(tmp_path: Path, protocol: int) -> None:
    target = tmp_path / "run"
    cifar(tmp_path, {b"data": Command(target), b"labels": [1]}, protocol)
    with pytest.raises(SourceError, match=r"asks for (posix|os|nt)\.system, which could run code"):
        cgscore.read(tmp_path)
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": [0]}, "1 labels for 2 images"),
        ({b"data": np.zeros((2, 9), np.uint8), b"labels": [0, 1]}, "no array 'data'"),
        ({b"data": np.zeros((2, 3072)), b"labels": [0, 1]}, "array of type 'f8'|type b'f8'"),
        ({b"data": np.array([object()]), b"labels": [0]}, "array of type|could run code"),
        ({b"data": np.zeros((2, 3072), np.uint8)}, "no labels 'labels'. It holds data"),
        ([1, 2], "holds a list"),
        (b"", "not a complete batch"),
        (b"\x80\x02}q\x00(U\x04data", "not a complete batch"),
        (b"\x80\x02r\xff\xff\xff\x7f.", "not a complete batch"),  # a memo index of 2^31
        (b"(" * 100_000 + b"t" * 100_000 + b".", "nests values more than 100 deep"),
    ],
)
def test_cifar_batches_that_are_none(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        cgscore.read(cifar(tmp_path, content))
