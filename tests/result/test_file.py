"""Results that were damaged, changed or made up: refused by name, whatever is done with them."""

from __future__ import annotations

import copy
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.data.readers.options import SAVED_OPTIONS
from cgscore.errors import CGScoreError, MemoryLimitError, ResultError, StorageError
from cgscore.result.schema import META_1, READ_OPTIONS, REQUIRED
from cgscore.result.source import check_openable
from tests.command import invoke

Document = dict[str, Any]
Change = Callable[[pa.Table, Document], pa.Table | None]

#: What is done with a result that loads.
USES = {
    "report": ("report", "s.parquet", "-o", "r.html"),
    "issues": ("issues", "s.parquet", "--why", "-o", "i.csv"),
    "issues --json": ("issues", "s.parquet", "--json"),
    "prune": ("prune", "s.parquet", "--keep", "0.5", "-o", "k.csv"),
    "prune --data-to": ("prune", "s.parquet", "--keep", "0.5", "--data-to", "k.npz"),
    "review": ("review", "s.parquet", "--labels-to", "l.csv"),
}


def scored(folder: Path, kind: str = "classes") -> cgscore.Scores:
    """A result whose source is there, with copies and a suspected label."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 10)
    X = rng.standard_normal((30, 5)) + 3 * np.eye(3, 5)[y]
    X[7] = X[4]
    y[0] = 1
    labels = {"texts": np.array(["a", "b", "c"])[y], "regression": X[:, 0]}.get(kind, y)
    np.savez(folder / "data.npz", X=X, y=labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cgscore.score(
            cgscore.read(folder / "data.npz"),
            ridge=0.0 if kind == "regression" else "auto",
            task="regression" if kind == "regression" else "classification",
        )


def rewrite(path: Path, change: Change) -> None:
    """Change table and document of a saved result."""
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    document = json.loads(metadata[b"cgscore"])
    changed = change(table, document)
    table = table if changed is None else changed
    if b"cgscore" not in (table.schema.metadata or {}):  # a change of columns drops them
        table = table.replace_schema_metadata(metadata)
    kept = dict(table.schema.metadata)
    if kept[b"cgscore"] == metadata[b"cgscore"]:
        kept[b"cgscore"] = json.dumps(document).encode()
    pq.write_table(table.replace_schema_metadata(kept), path)


def meta(name: str, value: Any) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        document["meta"][name] = value

    return change


def without_meta(name: str) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        del document["meta"][name]

    return change


def entry(name: str, value: Any) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        document[name] = value

    return change


def option(name: str, value: Any) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        document["meta"]["read_options"][name] = value

    return change


def raw(content: bytes) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        return table.replace_schema_metadata({**table.schema.metadata, b"cgscore": content})

    return change


def pandas_says(content: bytes) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        return table.replace_schema_metadata({**table.schema.metadata, b"pandas": content})

    return change


def column(name: str, make: Callable[[pa.ChunkedArray], Any]) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, make(table[name]))

    return change


def without(name: str) -> Change:
    return lambda table, _: table.drop_columns([name])


def nested(depth: int) -> bytes:
    return b'{"format": 1, "meta": ' + b"[" * depth + b"]" * depth + b"}"


def text_in(values: Any) -> Any:
    return pa.array([str(value) for value in values.to_pylist()])


def one(value: Any) -> Callable[[Any], Any]:
    """The column with another value in its third row."""

    def make(values: Any) -> Any:
        found = values.to_pylist()
        found[2] = value
        return pa.array(found)

    return make


def lists(k: int) -> Callable[[Any], Any]:
    return lambda values: pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(30 * k)), k)


def renumbered(_: pa.Table, document: Document) -> None:
    document["classes"] = document["classes"][::-1]


def deep_meta(_: pa.Table, document: Document) -> None:
    value: Any = 0
    for _step in range(200):
        value = [value]
    document["meta"]["extra"] = value


def pandas_type(name: str, kind: str) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        found = json.loads(table.schema.metadata[b"pandas"])
        for each in found["columns"]:
            if each["name"] == name:
                each["numpy_type"] = kind
        return table.replace_schema_metadata(
            {**table.schema.metadata, b"pandas": json.dumps(found).encode()}
        )

    return change


AUDIT = {"rank_correlation": 0.9, "rank_correlation_interval": [0.8, 0.95], "examples": 20}

#: Results that must be refused when they are loaded, and a part of what is said.
REFUSED: dict[str, tuple[Change, str]] = {
    **{f"no column {name}": (without(name), f"column {name} is missing") for name in REQUIRED},
    **{
        f"no meta {name}": (without_meta(name), rf"meta\['{name}'\] is missing")
        for name, field in META_1.items()
        if field.required
    },
    **{
        f"meta {name} = a list of lists": (meta(name, [[]]), rf"meta\['{name}'\] is \[\[\]\]")
        for name in META_1
    },
    **{
        f"option {name} = an object": (option(name, {}), f"'{name}'. cannot be")
        for name in READ_OPTIONS
    },
    "unknown option": (option("progress", True), "an option that is not known: 'progress'"),
    "option that is code": (option("__class__", "x"), "an option that is not known"),
    "scaling unknown": (option("scaling", "cube"), "cannot be 'cube'"),
    "labels with a NUL": (option("labels", "a\0b"), "cannot be"),
    "cg as text": (column("cg", text_in), "'cg' is of type string; expected float"),
    "margin as text": (column("margin", text_in), "'margin' is of type string"),
    "cg as lists": (column("cg", lists(2)), "'cg' is of type fixed_size_list"),
    "id as lists": (column("id", lists(2)), "'id' is of type"),
    "id missing everywhere": (column("id", lambda v: pa.nulls(len(v))), "'id' is of type null"),
    "d as text": (column("d", text_in), "'d' is of type string"),
    "d with a gap": (column("d", one(None)), "column d has rows without a value"),
    "alpha as whole numbers": (
        column("alpha", lambda v: pa.array(range(len(v)))),
        "'alpha' is of type int64",
    ),
    "loo too wide": (column("loo", lists(4)), r"expected 3 numbers in each row"),
    "loo too narrow": (column("loo", lists(2)), r"expected 3 numbers in each row"),
    "loo flat": (column("loo", lambda v: pa.array(np.zeros(30))), "loo is of type double"),
    "loo as ragged lists": (
        column("loo", lambda v: pa.array([[0.0] * (i % 4) for i in range(30)])),
        "loo is of type list",
    ),
    "loo of texts": (
        column("loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array(["x"] * 90), 3)),
        "loo is of type",
    ),
    "loo infinite": (
        column("loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([np.inf] * 90), 3)),
        "loo has a prediction that is infinite",
    ),
    "loo with gaps": (
        column(
            "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([None, 0.0, 1.0] * 30), 3)
        ),
        "loo has rows without a value",
    ),
    "rows cut": (lambda table, _: table.slice(0, 20), r"20 rows, and meta\['n'\] is 30"),
    "no rows": (lambda table, _: table.slice(0, 0), "0 rows"),
    "rows twice": (lambda table, _: pa.concat_tables([table, table]), "60 rows"),
    "two columns of one name": (
        lambda table, _: table.append_column("cg", table["cg"]),
        "the same name",
    ),
    "a column of structs": (
        lambda table, _: table.append_column("x", pa.array([{"a": 1}] * 30)),
        "'x' is of type struct",
    ),
    "labels as text": (column("given_label", text_in), "given_label' is of type string"),
    "label unknown": (column("given_label", one(7)), "given_label has .*7.* not among the classes"),
    "label missing": (column("given_label", one(None)), "given_label has rows without a label"),
    "prediction unknown": (column("predicted_label", one(9)), "predicted_label has .*9"),
    "predictions as text": (column("predicted_label", text_in), "predicted_label' is of type"),
    "copy of nobody": (column("duplicate_of", one(99)), "duplicate_of names an example"),
    "copy of a copy": (column("duplicate_of", one(7)), "duplicate_of names an example"),
    "copies as lists": (column("duplicate_of", lists(1)), "duplicate_of' is of type"),
    "classes missing": (entry("classes", None), "classes is not a list"),
    "classes empty": (entry("classes", []), "0 classes for a classification"),
    "one class": (entry("classes", [0]), "1 classes for a classification"),
    "classes unsorted": (renumbered, "not sorted, or repeat"),
    "classes repeat": (entry("classes", [0, 1, 1]), "not sorted, or repeat"),
    "classes of two types": (entry("classes", [0, 1, "2"]), "not all texts"),
    "classes of lists": (entry("classes", [[0], [1], [2]]), "not all texts"),
    "classes not finite": (entry("classes", [0.0, 1.0, np.inf]), "not finite"),
    "classes huge": (entry("classes", [0, 1, 2**70]), "more than 64 bits"),
    "class without examples": (entry("classes", [0, 1, 5]), "not among the classes"),
    "classes more than said": (entry("classes", [0, 1, 2, 3]), r"meta\['classes'\] is 3"),
    "complexity missing": (entry("complexity", None), "complexity is not a list"),
    "complexity too short": (entry("complexity", [1.0]), "1 complexities for 3 classes"),
    "complexity of texts": (entry("complexity", ["a", "b", "c"]), "complexity is not a list"),
    "meta missing": (entry("meta", None), "meta is missing, or not an object"),
    "meta a list": (entry("meta", []), "meta is missing, or not an object"),
    "n one more": (meta("n", 31), "30 rows"),
    "n true": (meta("n", True), r"meta\['n'\] is True"),
    "n as text": (meta("n", "30"), r"meta\['n'\] is '30'"),
    "n absurd": (meta("n", 10**15), "30 rows"),
    "p negative": (meta("p", -1), r"meta\['p'\]"),
    "ridge NaN": (meta("ridge", float("nan")), r"meta\['ridge'\] is nan"),
    "ridge infinite": (meta("ridge", float("inf")), r"meta\['ridge'\] is inf"),
    "ridge negative": (meta("ridge", -1e-9), r"meta\['ridge'\]"),
    "ridge as text": (meta("ridge", "auto"), r"meta\['ridge'\] is 'auto'"),
    "method unknown": (meta("method", "guess"), r"meta\['method'\] is 'guess'"),
    "task of the other kind": (meta("task", "regression"), "3 classes for a regression"),
    "source with a NUL": (meta("source", "a\0b"), r"meta\['source'\]"),
    "source of a name too long": (meta("source", "a/" + "x" * 256), r"meta\['source'\]"),
    "source of 100 kB": (meta("source", "x" * 100_000), r"meta\['source'\]"),
    "source that is no name": (meta("source", "\ud800"), r"meta\['source'\]"),
    "fingerprint of another form": (meta("fingerprint", "../x"), r"meta\['fingerprint'\]"),
    "class names too few": (meta("class_names", ["a"]), "1 class names for 3 classes"),
    "class names not texts": (meta("class_names", [1, 2, 3]), r"meta\['class_names'\]"),
    "timings without a total": (meta("timings", {"kernel": 1}), r"meta\['timings'\]"),
    "timings of texts": (meta("timings", {"total": "long"}), r"meta\['timings'\]"),
    "audit empty": (meta("audit", {}), r"meta\['audit'\]"),
    "audit half an interval": (
        meta("audit", {**AUDIT, "rank_correlation_interval": [1]}),
        r"meta\['audit'\]",
    ),
    "audit of texts": (meta("audit", {**AUDIT, "rank_correlation": "x"}), r"meta\['audit'\]"),
    "audit of the top without its interval": (
        meta("audit", {**AUDIT, "top_percent": 0.5}),
        r"meta\['audit'\]",
    ),
    "audit of the top of texts": (
        meta("audit", {**AUDIT, "top_percent": "x", "top_percent_interval": [0, 1]}),
        r"meta\['audit'\]",
    ),
    "warnings of numbers": (meta("warnings", [1]), r"meta\['warnings'\]"),
    "meta nested 200 deep": (deep_meta, "not a result of cgscore"),
    "number of 400 digits": (meta("ridge", 10**400), "not a result of cgscore"),
    "document nested 100,000 deep": (raw(nested(100_000)), "not a result of cgscore"),
    "number of 5,000 digits": (raw(b'{"format": 1' + b"0" * 5000 + b"}"), "not a result"),
    "document cut": (raw(b'{"format": 1, "meta"'), "not a result of cgscore"),
    "document not Unicode": (raw(b"\xff\xfe\x00"), "not a result of cgscore"),
    "document a list": (raw(b"[1]"), "not a result of cgscore"),
    "document empty": (raw(b""), "not a result of cgscore"),
    "document NaN": (raw(b"NaN"), "not a result of cgscore"),
    "format missing": (entry("format", None), "not a result of cgscore"),
    "format a text": (entry("format", "1"), "not a result of cgscore"),
    "format true": (entry("format", True), "not a result of cgscore"),
    "format 0": (entry("format", 0), "not a result of cgscore"),
    "format newer": (entry("format", 2), "has format 2, written by cgscore"),
    "pandas type that does not fit": (pandas_type("id", "boolean"), "table cannot be read"),
}

#: Results that are unusual and load: whatever is done with them ends well or in one message.
ODD: dict[str, Change] = {
    "as it is": lambda table, document: None,
    "audited": meta("audit", AUDIT),
    "source gone": meta("source", "nowhere.npz"),
    "source a folder": meta("source", "."),
    "source a device": meta("source", "/dev/zero"),
    "source a FIFO": meta("source", "fifo.npz"),
    "labels a FIFO": option("labels", "fifo.npz"),
    "labels a device": option("labels", "/dev/zero"),
    "encoder a FIFO": option("encoder", "fifo.npz"),
    "encoder that is code": option("encoder", "os:system"),
    "source of long names": meta("source", "x" * 255 + "/y" * 255),
    "source of the other kind": meta("source", "s.parquet"),
    "option of another reader": option("split", "train"),
    "column that is a number": option("label_column", 3),
    "resize absurd": option("resize", 2**62),
    "other fingerprint": meta("fingerprint", "0" * 32),
    "ridge huge": meta("ridge", 1e308),
    "ridge tiny": meta("ridge", 5e-324),
    "p huge": meta("p", 2**62),
    "texts with surrogates": meta("notes", ["\ud800"]),
    "unknown meta": meta("extra", {"a": [1, None, "b"]}),
    "pandas metadata gone": pandas_says(b"{}"),
    "pandas metadata nested": pandas_says(b"[" * 100_000),
    "pandas index": pandas_says(b'{"index_columns": ["id"], "columns": []}'),
    "pandas type unknown": pandas_type("id", "period[D]"),
    "cg missing": column("cg", lambda v: pa.nulls(len(v), pa.float64())),
    "cg infinite": column("cg", lambda v: pa.array([np.inf] * len(v))),
    "margin infinite": column("margin", lambda v: pa.array([-np.inf] * len(v))),
    "partial missing": column("partial", lambda v: pa.nulls(len(v), pa.float64())),
    "loo missing": column(
        "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([np.nan] * 90), 3)
    ),
    "loo all equal": column(
        "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([0.0] * 90), 3)
    ),
    "loo huge": column(
        "loo", lambda v: pa.FixedSizeListArray.from_arrays(pa.array([1e308, -1e308, 0.0] * 30), 3)
    ),
    "ids repeat": column("id", lambda v: pa.array([4] * len(v))),
    "ids missing": column("id", one(None)),
    "ids as formulas": column("id", lambda v: pa.array([f"=1+{i}" for i in range(len(v))])),
    "predictions missing": column("predicted_label", lambda v: pa.nulls(len(v), pa.int64())),
    "no copies": without("duplicate_of"),
    "a column of null": lambda table, _: table.append_column("x", pa.nulls(30)),
    "a column of dates": lambda table, _: table.append_column(
        "x", pa.array([pd.Timestamp(2020, 1, 1)] * 30)
    ),
}


def use(folder: Path, name: str) -> int:
    """Exit status of a use; anything but a message is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        done = invoke(*USES[name], folder=folder)
    assert done.returncode in (0, 2), done.stderr
    if done.returncode:
        assert done.stderr.startswith(("error: ", "note: ")), done.stderr
    return done.returncode


@pytest.mark.parametrize("name", REFUSED)
def test_malformed_results_are_refused_by_name(tmp_path: Path, name: str) -> None:
    change, message = REFUSED[name]
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    rewrite(path, change)
    with pytest.raises(ResultError, match=message) as caught:
        cgscore.load(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, StorageError)
    assert isinstance(caught.value, ResultError)
    assert use(tmp_path, "prune") == 2


def test_every_option_that_is_saved_can_be_loaded(tmp_path: Path) -> None:
    assert set(READ_OPTIONS) == set(SAVED_OPTIONS)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=list("abc"))
    frame.assign(label=np.arange(30) % 2).to_csv(tmp_path / "t.csv", index=False)
    data = cgscore.read(tmp_path / "t.csv", max_columns=10)
    cgscore.score(data).save(tmp_path / "s.parquet")
    assert cgscore.load(tmp_path / "s.parquet").meta["read_options"]["max_columns"] == 10


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_a_report_of_scores_near_the_largest_number(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    rewrite(path, column("cg", lambda values: pa.array([1e308] * len(values))))
    assert use(tmp_path, "report") == 0


@pytest.mark.needs("fastapi")
@pytest.mark.parametrize("name", ODD)
def test_odd_results_end_well_or_in_a_message(tmp_path: Path, name: str) -> None:
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "fifo.npz")
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    rewrite(path, ODD[name])
    for command in USES:
        status = use(tmp_path, command)
        assert status == 0 or name != "as it is"


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    path.mkdir()
    with pytest.raises(ResultError, match="is not a file"):
        cgscore.load(path)
    path.rmdir()
    scored(tmp_path).save(path)
    whole = path.read_bytes()
    for content in (b"", b"PAR1", whole[:-1], whole[:100], b"x" + whole[1:-1] + b"x"):
        path.write_bytes(content)
        with pytest.raises(ResultError, match="not a complete Parquet file"):
            cgscore.load(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(ResultError, match="not a result of cgscore"):
        cgscore.load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no FIFOs")
def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    """Opening it would wait for somebody who writes."""
    os.mkfifo(tmp_path / "fifo.npz")
    with pytest.raises(ResultError, match="is not a file"):
        cgscore.load(tmp_path / "fifo.npz")
    path = tmp_path / "s.parquet"
    scored(tmp_path).save(path)
    for change, what in (
        (meta("source", str(tmp_path / "fifo.npz")), "source"),
        (option("labels", str(tmp_path / "fifo.npz")), "file of labels"),
        (option("encoder", str(tmp_path / "fifo.npz")), "file of features"),
        (meta("source", "/dev/zero"), "source"),
    ):
        scored(tmp_path).save(path)
        rewrite(path, change)
        with pytest.raises(ResultError, match=f"The {what} .* neither a file nor a folder"):
            cgscore.load(path).data()
    check_openable(str(tmp_path), "source")
    check_openable(str(tmp_path / "nowhere"), "source")


def test_options_changed_in_memory_are_checked_too(tmp_path: Path) -> None:
    scores = scored(tmp_path)
    scores.meta["read_options"] = {"progress": True}
    with pytest.raises(StorageError, match="option that is not known: 'progress'"):
        scores.data(tmp_path / "data.npz")


def test_a_file_that_swells_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten million equal rows take a few kilobytes on disk, and gigabytes as they are."""
    path, n = tmp_path / "s.parquet", 10_000_000
    scored(tmp_path).save(path)
    small = pq.read_table(path)
    metadata = dict(small.schema.metadata)
    document = json.loads(metadata[b"cgscore"])
    document["meta"]["n"] = n
    metadata[b"cgscore"] = json.dumps(document).encode()
    step = pa.concat_tables([small.slice(0, 1)] * 10_000).combine_chunks()
    with pq.ParquetWriter(path, step.schema.with_metadata(metadata), compression="zstd") as file:
        for _ in range(n // 1_000_000):
            file.write_table(pa.concat_tables([step] * 100))
    assert path.stat().st_size < 3_000_000
    monkeypatch.setattr(pq, "ParquetFile", None)  # nothing may be read
    with pytest.raises(ResultError, match="would unpack to"):
        cgscore.load(path)
    monkeypatch.setattr("cgscore.result.file.available_memory", lambda: 10**8)
    with pytest.raises(MemoryLimitError, match="is free"):
        cgscore.load(path, max_ratio=1e9)


def test_one_long_text_is_not_repeated_without_end(tmp_path: Path) -> None:
    """A dictionary holds it once; a table would hold it for every row."""
    path = tmp_path / "s.parquet"
    scored(tmp_path, "texts").save(path)
    rewrite(path, column("id", lambda values: pa.array(["x" * 20_000_000] * 30)))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ResultError, match="would unpack to"):
        cgscore.load(path)


@pytest.mark.parametrize("kind", ["classes", "texts", "regression"])
def test_pandas_types_come_back(tmp_path: Path, kind: str) -> None:
    scores = scored(tmp_path, kind)
    scores.table["runs"] = pd.array([1, None] * 15, "Int64")
    scores.table["word"] = pd.array(["a", None] * 15, "string")
    scores.table["sure"] = pd.array([True, None] * 15, "boolean")
    scores.table["kind"] = pd.Categorical(["a", "b"] * 15)
    scores.save(tmp_path / "s.parquet")
    back = cgscore.load(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(back.table, scores.table)
    with pytest.raises(CGScoreError, match="no value for 15 examples"):
        back.values("runs")


JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e308, 5e-324,
    float("nan"), float("inf"), "", "x", "=1", "\0", "\ud800", "../..", "/dev/zero", "a" * 5000,
    [], [0], [None], ["a", "b", "c"], [0, 1, 2], [[]], {}, {"a": 1}, {"total": 1}, {"labels": 1},
]  # fmt: skip


def damaged(rng: np.random.Generator, table: pa.Table, document: Document) -> pa.Table:
    """One to three random changes of columns, of `meta` or of the document."""

    def junk() -> Any:
        return copy.deepcopy(JUNK[rng.integers(len(JUNK))])

    for _ in range(rng.integers(1, 4)):
        where = rng.integers(6)
        if where < 2:
            names = sorted(document["meta"])
            document["meta"][names[rng.integers(len(names))]] = junk()
        elif where == 2:
            found = document["meta"]
            nested_ones = [name for name in found if isinstance(found[name], dict)]
            if nested_ones:
                inner = found[nested_ones[rng.integers(len(nested_ones))]]
                key = [*inner, *READ_OPTIONS][rng.integers(len(inner) + len(READ_OPTIONS))]
                inner[key] = junk()
        elif where == 3:
            name = ("classes", "complexity", "format")[rng.integers(3)]
            if isinstance(document[name], list) and document[name]:
                document[name][rng.integers(len(document[name]))] = junk()
            else:
                document[name] = junk()
        else:
            place = int(rng.integers(table.num_columns))
            table = _damaged_column(rng, table, place)
        if not isinstance(document["meta"], dict):
            break
    return table


def _damaged_column(rng: np.random.Generator, table: pa.Table, place: int) -> pa.Table:
    name, values = table.column_names[place], table.column(place)
    way = rng.integers(6)
    if way == 0:
        return table.remove_column(place) if table.num_columns > 1 else table
    if way == 1:
        other = table.column(int(rng.integers(table.num_columns)))
        return table.set_column(place, name, other)
    if way == 2:
        return table.set_column(place, name, values.take(pa.array(rng.integers(0, 30, 30))))
    if way == 3:
        return table.set_column(place, name, pa.nulls(len(values), values.type))
    found = values.to_pylist()
    if way == 4:
        extreme = [np.nan, np.inf, -np.inf, 1e150, -1e150, 0.0, None, 1.0][rng.integers(8)]
        for at in rng.integers(0, len(found), 5):
            found[at] = [extreme] * len(found[at]) if isinstance(found[at], list) else extreme
    else:
        found = [str(value) for value in found]
    try:
        return table.set_column(place, name, pa.array(found))
    except (pa.ArrowException, TypeError):
        return table


def fuzz(folder: Path, seed: int, rounds: int) -> dict[str, int]:
    """How often changed results were refused, and ended well or in a message."""
    path, rng = folder / "s.parquet", np.random.default_rng(seed)
    ended = {"refused": 0, "loaded": 0, "done": 0, "message": 0}
    for kind in ("classes", "texts", "regression"):
        scored(folder, kind).save(path)
        whole = path.read_bytes()
        for _ in range(rounds):
            path.write_bytes(whole)
            for left in ("s.parquet.review", "k.npz"):
                (folder / left).unlink(missing_ok=True)
            rewrite(path, lambda table, document: damaged(rng, table, document))
            try:
                cgscore.load(path)
            except CGScoreError:
                ended["refused"] += 1
                continue
            ended["loaded"] += 1
            for command in USES:
                ended["message" if use(folder, command) else "done"] += 1
    return ended


def test_random_changes_end_well_or_in_a_message(tmp_path: Path) -> None:
    ended = fuzz(tmp_path, 0, 15)
    assert ended["refused"] > 10
    assert ended["done"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_many_random_changes_end_well_or_in_a_message(tmp_path: Path, seed: int) -> None:
    ended = fuzz(tmp_path, seed, 150)
    assert ended["refused"] > 100
    assert ended["done"] > 100
