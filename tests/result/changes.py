"""Saved results that are changed, and what is done with a result."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgscore
from cgscore.errors import ResultError, StorageError
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


def option(name: str, value: Any) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        document["meta"]["read_options"][name] = value

    return change


def column(name: str, make: Callable[[pa.ChunkedArray], Any]) -> Change:
    def change(table: pa.Table, _: Document) -> pa.Table:
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, make(table[name]))

    return change


def without(name: str) -> Change:
    return lambda table, _: table.drop_columns([name])


def one(value: Any) -> Callable[[Any], Any]:
    """The column with another value in its third row."""

    def make(values: Any) -> Any:
        found = values.to_pylist()
        found[2] = value
        return pa.array(found)

    return make


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


def use(folder: Path, name: str) -> int:
    """Exit status of a use; anything but a message is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        done = invoke(*USES[name], folder=folder)
    assert done.returncode in (0, 2), done.stderr
    if done.returncode:
        assert done.stderr.startswith(("error: ", "note: ")), done.stderr
    return done.returncode


def check_refused(folder: Path, change: Change, message: str) -> None:
    """A saved result with a change is refused when it is loaded, and by a command."""
    path = folder / "s.parquet"
    scored(folder).save(path)
    rewrite(path, change)
    with pytest.raises(ResultError, match=message) as caught:
        cgscore.load(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, StorageError)
    assert isinstance(caught.value, ResultError)
    assert use(folder, "prune") == 2


def entry(name: str, value: Any) -> Change:
    def change(_: pa.Table, document: Document) -> None:
        document[name] = value

    return change
