"""Small files that would swell, hang or break a reader, and what is said of each.

Run as a program, ``hostile_files.py FOLDER``, this makes every file and reads it in a process of
its own with little memory and little time, and prints one JSON document: for each case the error or
the data that came of it, the seconds and the bytes above the start.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[3]))  # as a program
from tests.data.readers import workbooks

ADDRESS_SPACE = 2_500_000_000  # bytes that a case may ask for
SECONDS = 60  # after which a case is ended


@dataclass(frozen=True)
class Case:
    """A maker of files, which returns what is to be read, and the words that must come of it."""

    make: Callable[[Path], Path]
    words: str  # a regular expression for the error; "" where the data must be read
    options: Callable[[Path], dict[str, Any]] = field(default=lambda folder: {})


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _socket(path: Path) -> Path:
    os.chdir(path.parent)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    return path


def _table(folder: Path) -> Path:
    (folder / "t.csv").write_text("a,label\n1,x\n2,y\n")
    return folder / "t.csv"


def _idx(folder: Path, images: int = 2) -> Path:
    head = struct.pack(">BBBB3I", 0, 0, 8, 3, images, 2, 2)
    (folder / "train-images-idx3-ubyte").write_bytes(head + b"\1" * 4 * images)
    labels = struct.pack(">BBBBI", 0, 0, 8, 1, images) + b"\0\1"[:images]
    (folder / "train-labels-idx1-ubyte").write_bytes(labels)
    return folder


def _cifar(folder: Path, batch: bytes | None = None) -> Path:
    meta = {b"label_names": [b"a", b"b"]}
    (folder / "batches.meta").write_bytes(pickle.dumps(meta, protocol=2))
    honest = {b"data": np.ones((2, 3072), np.uint8), b"labels": [0, 1]}
    for i in range(1, 6):
        path = folder / f"data_batch_{i}"
        path.write_bytes(batch or pickle.dumps(honest, protocol=2))
    return folder


def _saved(folder: Path) -> Path:
    import pyarrow as pa

    table = pa.table({"a": [1.0, 2.0], "label": [0, 1]})
    with pa.ipc.new_stream(str(folder / "data.arrow"), table.schema) as writer:
        writer.write_table(table)
    return _state(folder, {"_data_files": [{"filename": "data.arrow"}]})


def _state(folder: Path, state: Any, name: str = "state.json") -> Path:
    (folder / name).write_text(json.dumps(state))
    return folder


def _classes(folder: Path) -> Path:
    from PIL import Image

    for i, name in enumerate("ab"):
        (folder / name).mkdir()
        Image.new("L", (4, 4), 9 + i).save(folder / name / "1.png")
    return folder


def _instead(make: Callable[[Path], Path], name: str, put: Callable[[Path], Any]) -> Any:
    """A maker whose folder has something else in the place of one file."""

    def maker(folder: Path) -> Path:
        source = make(folder)
        (folder / name).unlink()
        put(folder / name)
        return source

    return maker


def _link_out(path: Path) -> None:
    path.symlink_to(sys.executable)


def _linked_split(folder: Path) -> Path:
    outside = folder.with_name("outside-split")
    outside.mkdir()
    (folder / "train").symlink_to(_classes(outside))
    return folder


def _linked_saved_split(folder: Path) -> Path:
    outside = folder.with_name("outside-saved")
    outside.mkdir()
    (folder / "train").symlink_to(_saved(outside))
    return _state(folder, {"splits": ["train"]}, "dataset_dict.json")


def _nested_key() -> bytes:
    """A key of 60 tuples, each of the one before twice: hashing it takes 2^60 steps."""
    steps = b"".join(b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1])
                     for i in range(60))  # fmt: skip
    return b"\x80\x02})q\x00" + steps + b"Ns."


def _list_dtype() -> bytes:
    return b"\x80\x02}U\x04datacnumpy\ndtype\n]K\x01aK\x00K\x01\x87Rs."


def _header(count: int) -> Callable[[Path], Path]:
    def maker(folder: Path) -> Path:
        path = folder / "wide.csv"
        path.write_text("label" + "," * (count - 1) + "\n1\n")
        return path

    return maker


def _columns(folder: Path) -> Path:
    path = folder / "wide.csv"
    names = ",".join(f"c{i}" for i in range(200_000))
    path.write_text(f"label,{names}\n" + ("1" + ",1" * 200_000 + "\n") * 3)
    return path


def _gzip_table(folder: Path) -> Path:
    path = folder / "t.csv.gz"
    part = gzip.compress(b"1,2\n" * 10**6, 9)
    path.write_bytes(gzip.compress(b"a,label\n") + part * 1000)
    return path


def _parquet(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    zeros = pa.array(np.zeros(10**6))
    table = pa.table({**{f"c{i}": zeros for i in range(100)}, "label": zeros})
    pq.write_table(table, folder / "t.parquet", row_group_size=10**6)
    return folder / "t.parquet"


def _feather(folder: Path) -> Path:
    import pyarrow as pa

    zeros = pa.array(np.zeros(2 * 10**6))
    table = pa.table({"a": zeros, "b": zeros, "c": zeros, "label": zeros})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(folder / "t.feather"), table.schema, options=options) as writer:
        for _ in range(20):
            writer.write_table(table)
    return folder / "t.feather"


def _repeated(form: str, kind: str, column: str = "a", n: int = 10**6) -> Callable[[Path], Path]:
    """A table with a million rows, or `n`, of one text of 1 MB, which is stored once."""

    def maker(folder: Path) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        text = "x" * 10**6
        codes = pa.array(np.zeros(n, np.int8))
        repeated = pa.DictionaryArray.from_arrays(codes, pa.array([text], kind))
        other = pa.array(np.arange(n) % 2)
        names = [column, "label" if column != "label" else "b"]
        table = pa.table([repeated, other], names)
        path = folder / f"t.{form}"
        if form == "feather":
            with pa.ipc.new_file(str(path), table.schema) as writer:
                writer.write_table(table)
        else:
            table = table.replace_schema_metadata(None)
            pq.write_table(table, path, store_schema=False, write_statistics=False)
        return path

    return maker


def _views(kind: str) -> Callable[[Path], Path]:
    """A Feather file with 100,000 views of one text of 1 MB."""

    def maker(folder: Path) -> Path:
        import pyarrow as pa

        n, size = 10**5, 10**6
        view = struct.pack("<i4sii", size, b"xxxx", 0, 0)
        buffers = [None, pa.py_buffer(view * n), pa.py_buffer(b"x" * size)]
        texts = pa.Array.from_buffers(getattr(pa, kind)(), n, buffers)
        table = pa.table({"a": texts, "label": np.arange(n) % 2})
        with pa.ipc.new_file(str(folder / "t.feather"), table.schema) as writer:
            writer.write_table(table)
        return folder / "t.feather"

    return maker


def _runs(folder: Path) -> Path:
    import pyarrow as pa

    n = 10**6
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array(["x" * 10**6]))
    batch = pa.record_batch([runs, pa.array(np.arange(n) % 2)], ["a", "label"])
    with pa.ipc.new_file(str(folder / "t.feather"), batch.schema) as writer:
        writer.write_batch(batch)
    return folder / "t.feather"


def _pngs(folder: Path, count: int = 48) -> Path:
    from PIL import Image

    for name in "ab":
        (folder / name).mkdir()
    first = folder / "a" / "0.png"
    Image.new("1", (7000, 7000)).save(first)
    for i in range(1, count):
        shutil.copy(first, folder / "ab"[i % 2] / f"{i}.png")
    return folder


def _photograph(folder: Path) -> Path:
    from PIL import Image

    (folder / "a").mkdir()
    whole = Image.linear_gradient("L").resize((8688, 5792)).convert("RGB")
    whole.save(folder / "a" / "1.jpg", quality=60)
    return folder


def _deep(folder: Path) -> Path:
    os.chdir(folder)
    for _ in range(1400):  # one by one: the whole name would be too long
        os.mkdir("d")
        os.chdir("d")
    os.chdir("/")
    return folder


def _surrogate(folder: Path) -> Path:
    path = folder / "t.npz"
    np.savez(path, X=np.eye(2), y=[0, 1], ids=np.array(["a", "b\ud800"]))
    return path


def _sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def _text(name: str, content: str) -> Callable[[Path], Path]:
    def maker(folder: Path) -> Path:
        (folder / name).write_text(content)
        return folder / name

    return maker


def _many_keys(folder: Path) -> Path:
    """40,000 objects, each with a key of its own: 1.6 billion cells in 1 MB."""
    lines = (f'{{"label": 1, "k{i}": 1}}\n' for i in range(40_000))
    (folder / "t.jsonl").write_text("".join(lines))
    return folder / "t.jsonl"


def _packed_json(folder: Path) -> Path:
    (folder / "t.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1, "label": 1}\n' * 10**6, 9) * 200)
    return folder / "t.jsonl.gz"


def _workbook(rows: Any, files: Any = None) -> Callable[[Path], Path]:
    def maker(folder: Path) -> Path:
        values = rows() if callable(rows) else rows
        return workbooks.write_workbook(folder / "t.xlsx", values, files)

    return maker


def _long_sheet() -> str:
    """600 MB of the same row."""
    row = '<row><c><v>1</v></c><c t="inlineStr"><is><t>x</t></is></c></row>'
    return "<worksheet><sheetData>" + row * (600_000_000 // len(row))


def _far_cells() -> list[list[Any]]:
    """100,000 rows with one cell each, in another of 16,000 columns."""
    rows = ([f'<c r="{workbooks.column_letters(i % 16_000)}2"><v>1</v></c>'] for i in range(10**5))
    return [["a", "label"], *rows]


def _shared_text() -> list[list[Any]]:
    return [["a", "label"], *(['<c t="s"><v>0</v></c>', i % 2] for i in range(10**5))]


_BOMB = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><worksheet>&b;</worksheet>"""
_HEAD = "@relation r\n@attribute a string\n@attribute label {x,y}\n@data\n"


CASES: dict[str, Case] = {
    "a pipe as a table": Case(lambda d: _pipe(d / "t.csv"), "t.csv is a named pipe"),
    "a socket as a table": Case(lambda d: _socket(d / "t.csv"), "t.csv is a socket"),
    "a link to a device": Case(
        _instead(_table, "t.csv", lambda path: path.symlink_to("/dev/zero")), "t.csv is a device"
    ),
    "a device as labels": Case(
        _table, "/dev/zero is a device", lambda d: {"labels": Path("/dev/zero")}
    ),
    "a pipe as labels": Case(
        _table, "y.txt is a named pipe", lambda d: {"labels": _pipe(d / "y.txt")}
    ),
    "labels without lines": Case(
        _table,
        "y.txt has more than 10,000 characters in line 1",
        lambda d: {"labels": _sparse(d / "y.txt", 10**9)},
    ),
    "a pipe as IDX images": Case(
        _instead(_idx, "train-images-idx3-ubyte", _pipe), "images-idx3-ubyte is a named pipe"
    ),
    "a pipe as IDX labels": Case(
        _instead(_idx, "train-labels-idx1-ubyte", _pipe), "labels-idx1-ubyte is a named pipe"
    ),
    "a pipe as a CIFAR batch": Case(
        _instead(_cifar, "data_batch_2", _pipe), "data_batch_2 is a named pipe"
    ),
    "a pipe as CIFAR's names": Case(
        _instead(_cifar, "batches.meta", _pipe), "batches.meta is a named pipe"
    ),
    "a pipe in a saved dataset": Case(
        _instead(_saved, "data.arrow", _pipe), "data.arrow is a named pipe"
    ),
    "a pipe as a description": Case(
        _instead(_saved, "state.json", _pipe), "state.json is a named pipe"
    ),
    "a pipe as an image": Case(_instead(_classes, "a/1.png", _pipe), "1.png is a named pipe"),
    "IDX images elsewhere": Case(
        _instead(_idx, "train-images-idx3-ubyte", _link_out), "link that leads out of"
    ),
    "IDX labels elsewhere": Case(
        _instead(_idx, "train-labels-idx1-ubyte", _link_out), "link that leads out of"
    ),
    "a CIFAR batch elsewhere": Case(
        _instead(_cifar, "data_batch_2", _link_out), "link that leads out of"
    ),
    "saved data elsewhere": Case(
        _instead(_saved, "data.arrow", _link_out), "link that leads out of"
    ),
    "a description elsewhere": Case(
        _instead(_saved, "state.json", _link_out), "link that leads out of"
    ),
    "an image elsewhere": Case(_instead(_classes, "a/1.png", _link_out), "link that leads out of"),
    "a split of images elsewhere": Case(_linked_split, "train is a link that leads out of"),
    "a saved split elsewhere": Case(_linked_saved_split, "train is a link that leads out of"),
    "nested tuples as a key": Case(
        lambda d: _cifar(d, _nested_key()), "data_batch_1 nests tuples more than 3 deep"
    ),
    "12 bytes that claim gigabytes": Case(
        lambda d: _cifar(d, b"\x80\x05\x96" + struct.pack("<Q", 1 << 33) + b"."),
        "data_batch_1 is not a complete batch of CIFAR: expected 8589934592 bytes",
    ),
    "a list as the type of an array": Case(
        lambda d: _cifar(d, _list_dtype()), "data_batch_1 holds an array whose type is a list"
    ),
    "a number as a key": Case(
        lambda d: _cifar(d, pickle.dumps({1: 2})), "data_batch_1 has a int as a key"
    ),
    "an instruction that makes objects": Case(
        lambda d: _cifar(d, pickle.dumps(Path("x"), 4).replace(b"R", b"\x81")),
        "data_batch_1 (uses the pickle instruction|asks for)",
    ),
    "state of a function": Case(
        lambda d: _cifar(d, b"\x80\x02cnumpy\ndtype\n}U\x01xK\x01sb."),
        "data_batch_1 sets the state of something that is not an array",
    ),
    "2 MB of commas": Case(_header(2_000_000), "2,000,000 columns; at most 50,000 .*max_columns="),
    "200,000 columns": Case(_columns, "200,001 columns; at most 50,000"),
    "4 GB of CSV in 4 MB": Case(_gzip_table, "t.csv.gz claims .* more than a 200-fold expansion"),
    "800 MB of zeros in Parquet": Case(_parquet, "t.parquet claims to hold 808 MB in"),
    "1.3 GB of zeros in Feather": Case(_feather, "t.feather claims to hold .* expansion"),
    "a text repeated in Parquet": Case(
        _repeated("parquet", "string"), "t.parquet: column 'a' claims to hold .* expansion"
    ),
    "a large text repeated in Parquet": Case(
        _repeated("parquet", "large_string"), "t.parquet: column 'a' claims to hold .* expansion"
    ),
    "a label repeated in Parquet": Case(
        _repeated("parquet", "string", "label"), "column 'label' claims to hold .* expansion"
    ),
    "a label repeated in Feather": Case(
        _repeated("feather", "string", "label"), "column 'label' claims to hold 1 TB in"
    ),
    "a large label repeated in Feather": Case(
        _repeated("feather", "large_string", "label"), "column 'label' claims to hold 1 TB in"
    ),
    "a text repeated in Feather": Case(
        _repeated("feather", "string"), "column 'a' claims to hold 1 TB in"
    ),
    "a long label": Case(
        _repeated("feather", "string", "label", 50), "label of more than 10,000 bytes"
    ),
    "a text viewed 100,000 times": Case(
        _views("string_view"), "t.feather: column 'a' claims to hold 100 GB in"
    ),
    "bytes viewed 100,000 times": Case(
        _views("binary_view"), "t.feather: column 'a' claims to hold 100 GB in"
    ),
    "a text in one run": Case(_runs, "column 'a' is of the type run_end_encoded"),
    "48 PNGs of 49 megapixels": Case(
        _pngs, "48 images like .*png claims to hold 2.35 GB", lambda d: {"encoder": "pixels"}
    ),
    "PNGs of 49 megapixels, resized": Case(
        lambda d: _pngs(d, 4), "", lambda d: {"resize": 8, "encoder": "pixels"}
    ),
    "a photograph of 50 megapixels": Case(
        _photograph, "", lambda d: {"resize": 64, "encoder": "pixels"}
    ),
    "IDX without rows": Case(lambda d: _idx(d, 0), r"images-idx3-ubyte holds no pixels"),
    "a description of texts": Case(
        lambda d: _state(d, {"_data_files": ["a", "b"]}), "state.json does not name the data files"
    ),
    "a dataset without splits": Case(
        lambda d: _state(d, {"splits": []}, "dataset_dict.json"), "has no list of splits"
    ),
    "JSON nested 100,000 deep": Case(
        _text("t.jsonl", '{"a": ' + "[" * 100_000), "line 1 nests lists or objects too deep"
    ),
    "a JSON list nested 100,000 deep": Case(
        _text("t.json", "[" * 100_000), "element 0 .* nests lists or objects too deep"
    ),
    "a truncated JSON list": Case(
        _text("t.json", '[{"a": 1, "label": 2}, {"a"'), "element 1 .* is not JSON"
    ),
    "40,000 keys of 40,000 objects": Case(_many_keys, "t.jsonl claims to hold 12.8 GB"),
    "80,000 keys": Case(
        _text("t.jsonl", json.dumps({f"k{i}": 1 for i in range(80_000)})), "50,001 columns"
    ),
    "4 GB of JSON in 4 MB": Case(_packed_json, "t.jsonl.gz claims .* 200-fold expansion"),
    "a number of 10,000 digits": Case(
        _text("t.jsonl", '{"a": ' + "9" * 10_000 + ', "label": 1}'), "line 1 is not JSON"
    ),
    "half a character in JSON": Case(
        _text("t.jsonl", '{"a": 1, "label": "\\ud800"}\n' * 2), "not a complete JSON|half"
    ),
    "a sheet of 600 MB": Case(_workbook(_long_sheet), "sheet1.xml claims to hold 600 MB in"),
    "cells far to the right": Case(_workbook(_far_cells), "t.xlsx claims to hold 12.8 GB"),
    "a shared text 100,000 times": Case(
        _workbook(_shared_text, {"xl/sharedStrings.xml": workbooks.shared_texts(["x" * 32_000])}),
        "t.xlsx claims to hold .* expansion",
    ),
    "a cell of 1 MB": Case(
        _workbook([["a", "label"], ["x" * 10**6, 1]]), "a cell of 1,000,000 characters"
    ),
    "entities in a sheet": Case(_workbook(_BOMB), "sheet1.xml declares entities"),
    "a truncated sheet": Case(_workbook("<worksheet><sheetData><row><c"), "not a complete XLSX"),
    "a formula": Case(
        _workbook([["a", "label"], ['<c r="A2"><f>WEBSERVICE("x")</f><v>1</v></c>', 1], [2, 0]]),
        "",
    ),
    "ARFF with 60,000 attributes": Case(
        _text("t.arff", "".join(f"@attribute a{i} real\n" for i in range(60_000))), "50,001 columns"
    ),
    "a value of 4 MB of quotes": Case(
        _text("t.arff", _HEAD + "'" + "\\'" * 2_000_000), "quotation mark that is not closed"
    ),
    "a line of 4 MB of spaces": Case(
        _text("t.arff", _HEAD + "'a'" + " " * 4_000_000 + "b,x"), "quotation mark"
    ),
    "truncated ARFF": Case(_text("t.arff", "@relation r\n@attribute a real\n"), "has no @data"),
    "folders 1,400 deep": Case(_deep, "folders nested more than 64 deep"),
    "half a character as a name": Case(_surrogate, r"name of an example 'b\\ud800' holds half"),
}  # fmt: skip


def read_one(case: Case, folder: Path) -> dict[str, Any]:
    """What comes of reading one case, in this process."""
    import resource
    import signal
    import time

    import cgscore
    from cgscore.execution.machine import peak_memory

    begin = time.monotonic()
    source, options = case.make(folder), case.options(folder)
    made = time.monotonic() - begin
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.alarm(SECONDS)
    before, start = peak_memory(), time.monotonic()
    try:
        found: dict[str, Any] = {"data": list(cgscore.read(source, **options).X.shape)}
    except cgscore.CGScoreError as error:
        found = {"error": str(error)}
    except BaseException as error:
        found = {"traceback": repr(error)[:2000]}
    seconds, peak = time.monotonic() - start, peak_memory() - before
    return {**found, "made": round(made, 2), "seconds": round(seconds, 2), "bytes": peak}


def main(folder: Path) -> None:
    """Read every case in a process of its own."""
    import pandas
    import PIL.Image
    import pyarrow.csv
    import pyarrow.parquet
    import sklearn.impute
    import sklearn.preprocessing

    import cgscore

    loaded = (pandas, PIL.Image, pyarrow.csv, pyarrow.parquet, sklearn, cgscore.read)
    assert len(loaded) == 6  # so that no case pays for them
    table = {}
    for number, (name, case) in enumerate(CASES.items()):
        place = folder / str(number)
        place.mkdir()
        child = os.fork()
        if child == 0:
            try:
                answer = read_one(case, place)
            except BaseException as error:
                answer = {"traceback": f"while making the file: {error!r}"}
            (folder / f"{number}.json").write_text(json.dumps(answer))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        answers = folder / f"{number}.json"
        table[name] = (
            json.loads(answers.read_text()) if status == 0 else {"traceback": f"status {status}"}
        )
        subprocess.run(["rm", "-rf", str(place)])  # rmtree does not reach 1,400 folders deep
    print(json.dumps(table))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
