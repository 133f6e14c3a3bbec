"""Documents that were damaged, changed or made up: refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.data.readers.options import SAVED_OPTIONS
from cgscore.errors import ResultError
from cgscore.result.schema import META_1, READ_OPTIONS
from tests.issues.examples import blobs
from tests.result.changes import AUDIT, Change, Document, check_refused, entry, meta, option


def without_meta(name: str) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        del document["meta"][name]

    return change


def raw(content: bytes) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        return table.replace_schema_metadata({**table.schema.metadata, b"cgscore": content})

    return change


def nested(depth: int) -> bytes:
    return b'{"format": 1, "meta": ' + b"[" * depth + b"]" * depth + b"}"


def renumbered(_: pa.Table, document: Document) -> None:
    document["classes"] = document["classes"][::-1]


def deep_meta(_: pa.Table, document: Document) -> None:
    value: Any = 0
    for _step in range(200):
        value = [value]
    document["meta"]["extra"] = value


#: Documents for which a file is refused, and a part of what is said.
REFUSED: dict[str, tuple[Change, str]] = {
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
    "classes missing": (entry("classes", None), "classes is not a list"),
    "classes empty": (entry("classes", []), "0 classes for a classification"),
    "one class": (entry("classes", [0]), "1 classes for a classification"),
    "classes unsorted": (renumbered, "not sorted, or repeat"),
    "classes repeat": (entry("classes", [0, 1, 1]), "not sorted, or repeat"),
    "classes of two types": (entry("classes", [0, 1, "2"]), "not all texts"),
    "classes of lists": (entry("classes", [[0], [1], [2]]), "not all texts"),
    "classes not finite": (entry("classes", [0.0, 1.0, np.inf]), "not finite"),
    "classes huge": (entry("classes", [0, 1, 2**70]), "more than 64 bits"),
    "classes more than said": (entry("classes", [0, 1, 2, 3]), r"meta\['classes'\] is 3"),
    "complexity missing": (entry("complexity", None), "complexity is not a list"),
    "complexity too short": (entry("complexity", [1.0]), "1 complexities for 3 classes"),
    "complexity of texts": (entry("complexity", ["a", "b", "c"]), "complexity is not a list"),
    "meta missing": (entry("meta", None), "meta is missing, or not an object"),
    "meta a list": (entry("meta", []), "meta is missing, or not an object"),
    "n true": (meta("n", True), r"meta\['n'\] is True"),
    "n as text": (meta("n", "30"), r"meta\['n'\] is '30'"),
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
    "format newer": (entry("format", 3), "has format 3, written by cgscore"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_malformed_documents_are_refused_by_name(tmp_path: Path, name: str) -> None:
    check_refused(tmp_path, *REFUSED[name])


def test_every_option_that_is_saved_can_be_loaded(tmp_path: Path) -> None:
    assert set(READ_OPTIONS) == set(SAVED_OPTIONS)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=list("abc"))
    frame.assign(label=np.arange(30) % 2).to_csv(tmp_path / "t.csv", index=False)
    data = cgscore.read(tmp_path / "t.csv", max_columns=10)
    cgscore.score(data).save(tmp_path / "s.parquet")
    assert cgscore.load(tmp_path / "s.parquet").meta["read_options"]["max_columns"] == 10


@pytest.mark.parametrize(
    ("name", "value"), [("weight", 0.0), ("plausibility", -1.0), ("sharpness", 0.0)]
)
def test_hypotheses_that_are_none_are_refused(tmp_path: Path, name: str, value: float) -> None:
    X, y = blobs([60, 70], apart=1.5)
    path = tmp_path / "s.parquet"
    cgscore.score(X, y, method="lowrank", ridge=0.1, keep_predictions=False).save(path)
    table = pq.read_table(path)
    document = json.loads(table.schema.metadata[b"cgscore"])
    for hypothesis in document["meta"]["verdicts"]["hypotheses"]:
        hypothesis[name] = value
    metadata = {**table.schema.metadata, b"cgscore": json.dumps(document).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(ResultError, match="verdicts"):
        cgscore.load(path)
