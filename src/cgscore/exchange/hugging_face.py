"""Hugging Face: a dataset saved to disk with columns of scores and a card; corrections back.

The folder is what ``datasets.load_from_disk`` reads: an Arrow stream, and two JSON files that
describe it. It is written batch by batch, without the package `datasets`. What comes back is such
a folder, or a Parquet file as the hub has it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from cgscore.data.readers.arrow import checked_parquet
from cgscore.data.readers.arrow_rows import Rows, class_names, is_list
from cgscore.data.readers.bounded import check_regular, reading
from cgscore.data.readers.hugging_face import is_saved_dataset, saved_table, split_folder
from cgscore.errors import SourceError
from cgscore.exchange.examples import Example, Examples, is_missing
from cgscore.exchange.hugging_face_card import CARD, card
from cgscore.exchange.tool import ID, POSITION, STAMP, Correction, ExportOptions, Tool
from cgscore.execution.files import new_folder
from cgscore.execution.progress import Advance

CORRECTED = "corrected_label"
DATA = "data-00000-of-00001.arrow"
_BATCH_ROWS = 500
_PARQUET = (".parquet", ".pq")


def write(
    examples: Examples, path: Path, options: ExportOptions, advance: Advance
) -> dict[str, str]:
    """Write a new folder with the dataset and its card."""
    import pyarrow as pa

    own = _own_columns(examples)
    content = _content_columns(examples, own)
    schema = pa.schema({name: kind for name, (kind, _) in (content | own).items()})
    features = {name: feature for name, (_, feature) in (content | own).items()}
    info = {"info": {"features": features}}
    schema = schema.with_metadata({b"huggingface": json.dumps(info).encode()})
    with new_folder(path) as folder:
        folder.mkdir()
        with pa.OSFile(str(folder / DATA), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            rows = iter(examples)
            while part := list(islice(rows, _BATCH_ROWS)):
                columns = _content(examples, [example.position for example in part], content)
                columns |= _scores(examples, part)
                stream.write_batch(pa.RecordBatch.from_pydict(columns, schema))
                advance(len(part))
        _write_json(folder / "dataset_info.json", {"features": features})
        _write_json(folder / "state.json", _state(examples))
        (folder / CARD).write_text(card(examples), encoding="utf-8")
    return {str(path): f"{len(examples):,} rows", str(path / CARD): "its card"}


def read(path: Path) -> Iterator[Correction]:
    """The rows of a saved dataset or of a Parquet file whose corrected label is filled in."""
    if path.is_dir():
        folder = split_folder(path, None)
        table = saved_table(folder)
        rows = Rows(
            str(path),
            table.schema,
            table.num_rows,
            lambda columns: iter(table.select(columns).to_batches(_BATCH_ROWS)),
        )
        yield from _corrections(path, rows)
        return
    check_regular(path)
    with checked_parquet(path) as file:
        schema, count = file.schema_arrow, file.metadata.num_rows
        rows = Rows(
            str(path), schema, count, lambda names: file.iter_batches(_BATCH_ROWS, None, names)
        )
        yield from _corrections(path, rows)


def _corrections(path: Path, rows: Rows) -> Iterator[Correction]:
    names = set(rows.schema.names)
    for name in (CORRECTED, STAMP):
        if name not in names:
            raise SourceError(
                f"{path} has no column {name!r}. Import a dataset that cgscore export --to "
                "hugging-face wrote, with all its columns."
            )
    wanted = [name for name in (CORRECTED, STAMP, POSITION, ID) if name in names]
    for name in wanted:
        _check_type(path, name, rows.schema.field(name).type)
    classes = class_names(rows, CORRECTED) or {}
    number = 0
    with reading(path, "dataset"):
        for batch in rows.batches(wanted):
            for record in batch.to_pylist():
                label = record[CORRECTED]
                if label not in (None, ""):
                    yield Correction(
                        where=f"row {number:,}",
                        stamp=record[STAMP],
                        position=record.get(POSITION),
                        id=record.get(ID),
                        label=classes.get(label, label) if classes else label,
                    )
                number += 1


def _check_type(path: Path, name: str, kind: Any) -> None:
    """Refuse columns of lists and the like: of one cell a Parquet file may make millions."""
    import pyarrow as pa

    if is_list(kind) or pa.types.is_nested(kind) or pa.types.is_run_end_encoded(kind):
        raise SourceError(
            f"{path}: column {name!r} is of the type {kind}. Expected one value each."
        )


def _own_columns(examples: Examples) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The columns that cgscore adds: type, and description of `datasets`."""
    import pyarrow as pa

    label: tuple[Any, dict[str, Any]] = _value("float64")
    if not examples.regression:
        label = (pa.int64(), {"names": examples.captions.texts, "_type": "ClassLabel"})
    kind = "float64" if examples.regression else "string"
    return {
        "label": label,
        "suggested_label": _value(kind),
        CORRECTED: _value(kind),
        "confidence": _value("float64"),
        "label_score": _value("float64"),
        "cg": _value("float64"),
        "is_label_issue": _value("bool"),
        "reason": _value("string"),
        POSITION: _value("int64"),
        ID: _value("string"),
        STAMP: _value("string"),
    }


def _content_columns(
    examples: Examples, own: Mapping[str, Any]
) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The columns that hold the examples themselves."""
    import pyarrow as pa

    if examples.kind == "image":
        kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
        return {"image": (kind, {"_type": "Image"})}
    if examples.kind == "text":
        return {"text": _value("string")}
    if examples.kind != "table" or examples.dataset is None or examples.dataset.frame is None:
        return {}
    columns = {}
    for name, dtype in examples.dataset.frame.dtypes.items():
        kind = {"i": "int64", "u": "uint64", "f": "float64", "b": "bool"}.get(
            getattr(dtype, "kind", "O"), "string"
        )
        columns[f"column_{name}" if str(name) in own else str(name)] = _value(kind)
    return columns


def _value(kind: str) -> tuple[Any, dict[str, Any]]:
    import pyarrow as pa

    types = {
        "float64": pa.float64(),
        "int64": pa.int64(),
        "uint64": pa.uint64(),
        "bool": pa.bool_(),
        "string": pa.string(),
    }
    return types[kind], {"dtype": kind, "_type": "Value"}


def _scores(examples: Examples, part: list[Example]) -> dict[str, list[Any]]:
    """The columns that cgscore adds, for some examples."""
    return {
        "label": [one.given if examples.regression else one.code for one in part],
        "suggested_label": [one.suggested for one in part],
        CORRECTED: [None] * len(part),
        "confidence": [one.confidence for one in part],
        "label_score": [one.label_score for one in part],
        "cg": [one.cg for one in part],
        "is_label_issue": [one.is_label_issue for one in part],
        "reason": [one.reason for one in part],
        POSITION: [one.position for one in part],
        ID: [one.id for one in part],
        STAMP: [examples.stamp] * len(part),
    }


def _content(
    examples: Examples, positions: list[int], content: Mapping[str, tuple[Any, dict[str, Any]]]
) -> dict[str, list[Any]]:
    """The columns that hold the examples themselves, for some of them."""
    dataset = examples.dataset
    if examples.kind == "image" and dataset is not None:
        return {"image": [_image(dataset, position) for position in positions]}
    if examples.kind == "text":
        return {"text": [examples.text(position) for position in positions]}
    if not content or dataset is None or dataset.frame is None:
        return {}
    rows = dataset.frame.iloc[positions]
    return {
        name: [_plain(value, feature["dtype"]) for value in rows.iloc[:, i].tolist()]
        for i, (name, (_, feature)) in enumerate(content.items())
    }


def _image(dataset: Any, position: int) -> dict[str, Any]:
    """The file of an image as it is, or a PNG of it where it has no file."""
    if dataset.files is None:
        file = io.BytesIO()
        dataset.picture(position).save(file, "PNG")
        return {"bytes": file.getvalue(), "path": None}
    path = Path(dataset.files[position])
    check_regular(path)
    return {"bytes": path.read_bytes(), "path": path.name}


def _plain(value: Any, dtype: str) -> Any:
    """A cell of a data frame as a column of a type holds it; missing ones are None."""
    if is_missing(value):
        return None
    return str(value) if dtype == "string" else value


def _state(examples: Examples) -> dict[str, Any]:
    return {
        "_data_files": [{"filename": DATA}],
        "_fingerprint": examples.scores.meta["fingerprint"][:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": "train",
    }


def _write_json(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")


def _recognises(path: Path) -> bool:
    return is_saved_dataset(path) if path.is_dir() else path.suffix.lower() in _PARQUET


TOOL = Tool(
    name="hugging-face",
    title="Hugging Face",
    write=write,
    read=read,
    recognises=_recognises,
    suffix="",
    steps=f"Load it with datasets.load_from_disk, fill in {CORRECTED}, and save it again.",
    returned="corrected",
    whole=True,
)
