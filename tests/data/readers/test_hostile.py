"""Files that lie, and files with errors in them: one clear message, little memory, little time."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data.readers import hostile_files

import cgscore
from cgscore.data.readers import bounded
from cgscore.errors import LabelError, OptionError, SourceError

MAKERS = Path(__file__).with_name("test_readers.py")


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


def test_a_zip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MIN_SUSPICIOUS_BYTES", 10**6)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=np.zeros((10_000, 1000)), y=np.arange(10_000) % 2)
    assert path.stat().st_size < 10**6
    with pytest.raises(SourceError, match="more than a 200-fold expansion"):
        cgscore.read(path)


def test_very_regular_data_are_not_a_bomb(tmp_path: Path) -> None:
    X = np.zeros((1500, 5000))
    X[np.arange(1500), np.arange(1500) * 3] = 1.0
    np.savez_compressed(tmp_path / "x.npz", X=X, y=np.arange(1500) % 2)
    assert len(cgscore.read(tmp_path / "x.npz")) == 1500


def test_more_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "available_memory", lambda: 10**5)
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((10_000, 100)), y=np.arange(10_000) % 2)
    with pytest.raises(SourceError, match=r"holds 8 MB once read; 100 kB of memory is free"):
        cgscore.read(tmp_path / "x.npz")
    with gzip.open(tmp_path / "x.csv.gz", "wb") as file:
        file.write(b"a,label\n" + b"1,2\n" * 10**6)
    with pytest.raises(SourceError, match="of memory is free"):
        cgscore.read(tmp_path / "x.csv.gz")


def test_a_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MIN_SUSPICIOUS_BYTES", 10**6)
    with gzip.open(tmp_path / "x.csv.gz", "wb") as file:
        file.write(b"a,label\n" + b"1,2\n" * 10**7)
    with pytest.raises(SourceError, match="expansion"):
        cgscore.read(tmp_path / "x.csv.gz")


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
    with pytest.raises(SourceError, match="split 'all' is not known"):
        cgscore.read(tmp_path, split="all")
    with pytest.raises(SourceError, match="has no t10k-images"):
        cgscore.read(tmp_path, split="test")
    labels = tmp_path / "train-labels-idx1-ubyte"
    labels.write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 3) + b"abc")
    with pytest.raises(SourceError, match=r"holds 2 images, but .* shape \(3,\)"):
        cgscore.read(tmp_path)


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


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each hostile file, read with little memory in a process of its own."""
    if sys.platform != "linux":
        pytest.skip("pipes, devices and limits of Linux")
    done = subprocess.run(
        [sys.executable, hostile_files.__file__, str(tmp_path_factory.mktemp("hostile"))],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", hostile_files.CASES)
def test_small_files_cost_little(name: str, answers: dict[str, dict[str, Any]]) -> None:
    answer, words = answers[name], hostile_files.CASES[name].words
    assert "traceback" not in answer, answer
    if words:
        assert re.search(words, answer["error"]), answer
    else:
        assert answer["data"], answer
    assert answer["bytes"] < 500_000_000


def test_the_limit_of_columns_can_be_raised(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0], "label": [0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    for path in sorted(tmp_path.iterdir()):
        assert len(cgscore.read(path, max_columns=3)) == 2
        with pytest.raises(SourceError, match=r"3 columns; at most 2 are read.*--max-columns 3"):
            cgscore.read(path, max_columns=2)
    with pytest.raises(OptionError, match="max_columns must be 1 or larger; got 0"):
        cgscore.read(tmp_path / "t.csv", max_columns=0)


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


TABLES: dict[str, tuple[bytes, Any, str]] = {
    "leading zeros are text": (b"a,label\n1,07\n2,7\n3,07\n4,7\n", ["07", "7", "07", "7"], "y"),
    "ids keep their zeros": (b"id,a,label\n001,1,x\n01,2,y\n", ["001", "01"], "ids"),
    "floats are floats": (b"a,label\n1,1.0\n2,2.0\n", [1.0, 2.0], "y"),
    "semicolons and decimal commas": (b"a;label\n1,5;x\n2,5;y\n", [[1.5], [2.5]], "X"),
    "a mark of byte order": (b"\xef\xbb\xbfa,label\r\n1,x\r\n2,y\r\n", [[1], [2]], "X"),
    "empty lines first": (b"\n\na,label\n1,x\n2,y\n", ["x", "y"], "y"),
    "pandas' index": (b",a,label\n0,5,x\n1,6,y\n", [0, 1], "ids"),
    "quoted delimiters in names": (b'"a;b;c;d",label\n1,x\n2,y\n', ["x", "y"], "y"),
}


@pytest.mark.parametrize("case", TABLES)
def test_csv_files_as_people_have_them(tmp_path: Path, case: str) -> None:
    content, expected, part = TABLES[case]
    (tmp_path / "t.csv").write_bytes(content)
    preprocess = "none" if part == "X" else "auto"
    data = cgscore.read(tmp_path / "t.csv", preprocess=preprocess)
    assert getattr(data, part).tolist() == expected


def test_labels_apart_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b,label\n1,5,7,x\n2,6,9,y\n3,8,1,x\n")
    (tmp_path / "y.txt").write_bytes(b"\xef\xbb\xbfno\nyes\nno\n")
    data = cgscore.read(tmp_path / "t.csv", labels=tmp_path / "y.txt")
    assert data.y is not None
    assert data.y.tolist() == ["no", "yes", "no"]
    assert data.X.shape == (3, 3)  # a, b and the constant
    assert data.ids.tolist() == [1, 2, 3]
    assert "column 'label' is left out" in data.notes[0]
    (tmp_path / "y.txt").write_text("1\n2\n")
    with pytest.raises(LabelError, match="2 labels for 3 examples"):
        cgscore.read(tmp_path / "t.csv", labels=tmp_path / "y.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,label\n1,x\n2,y\nthree,x\n4,y\n", "column 'a' holds numbers, but row 2 .*'three'"),
        (b"a,label\n\xe9t\xe9,x\nb,y\n", "column 'a' is not text in UTF-8"),
        (b'a,label\n1,"x\n2,y\n3,z\n', "line break|not a table|not closed"),
    ],
)
def test_csv_files_with_mistakes(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(cgscore.CGScoreError, match=message):
        cgscore.read(tmp_path / "t.csv")


FUZZED = [
    "numpy_archive",
    "numpy_array",
    "csv",
    "parquet",
    "feather",
    "parquet_of_images",
    "saved_dataset",
    "idx_pair",
    "idx_file",
    "cifar10",
    "cifar100",
    "image_folder",
]

FUZZ = """
import importlib.util, random, resource, shutil, signal, sys, warnings
from pathlib import Path

spec = importlib.util.spec_from_file_location("makers", sys.argv[1])
makers = importlib.util.module_from_spec(spec)
sys.modules["makers"] = makers
spec.loader.exec_module(makers)
import cgscore, pyarrow.parquet, pyarrow.csv, PIL.Image
from cgscore.execution.machine import peak_memory

name, count, seed, folder = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])
clean = folder / "clean"
clean.mkdir()
made = getattr(makers, name)(clean)
options = made.options or {}
where = Path(made.source).relative_to(clean)
files = sorted(path.relative_to(clean) for path in clean.rglob("*") if path.is_file())
made.read()  # load every library
warnings.simplefilter("ignore")
dice, rejected, bound = random.Random(seed), 0, peak_memory() + 400_000_000

def mutate(content):
    content = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 8, 64])):
        kind = dice.randrange(6)
        if not content:
            break
        at = dice.randrange(min(len(content), dice.choice([16, 64, 512, len(content)])))
        if kind == 0:
            content[at] = dice.randrange(256)
        elif kind == 1:
            large = [b"\\xff" * 4, b"\\x7f\\xff\\xff\\xff", b"\\0" * 4, b"9999"]
            content[at:at + 4] = dice.choice(large)
        elif kind == 2:
            del content[at:at + dice.randrange(1, 40)]
        elif kind == 3:
            content[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 40)))
        elif kind == 4:
            del content[at:]
        else:
            other = dice.randrange(len(content))
            content[at:at + 16] = content[other:other + 16]
    return bytes(content)

for turn in range(count):
    dirty = folder / "dirty"
    shutil.copytree(clean, dirty)
    target = dirty / dice.choice(files)
    target.write_bytes(mutate(target.read_bytes()))
    given = {
        key: dirty / value.relative_to(clean) if isinstance(value, Path) else value
        for key, value in options.items()
    }
    signal.alarm(20)  # a hang ends the process
    try:
        cgscore.read(dirty / where, **given)
    except cgscore.CGScoreError as error:
        rejected += 1
        assert len(str(error)) < 3000, str(error)[:3000]
    except BaseException:
        shutil.copytree(dirty, folder / f"failed-{turn}")
        raise
    signal.alarm(0)
    assert peak_memory() < bound, f"turn {turn} took {peak_memory() - bound + 4e8:,.0f} bytes"
    shutil.rmtree(dirty)
print(rejected)
"""


def fuzz(name: str, count: int, seed: int, folder: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(MAKERS), name, str(count), str(seed), str(folder)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


@pytest.mark.needs("datasets")
@pytest.mark.parametrize("name", FUZZED)
def test_mutated_files(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 100, 0, tmp_path) > 5  # some mutations must have been noticed


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZED)
def test_many_mutated_files(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 2000, 1, tmp_path) > 100
