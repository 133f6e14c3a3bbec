"""Saved results: one Parquet file each.

Columns are those of `Scores.table`, then ``d``, ``alpha``, ``loo`` and, where labels are judged
apart, ``judged_loo`` and for a regression ``judged_d``; metadata hold one JSON document
(`cgscore.result.schema`). Files come from anywhere, so sizes are compared before anything is read,
and names and types before values (`cgscore.result.columns`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import MemoryLimitError, ResultError
from cgscore.execution.files import replace_file
from cgscore.execution.machine import available_memory, show_bytes
from cgscore.issues.judged import JudgedLabels, restored
from cgscore.result.columns import (
    as_frame,
    check_columns,
    check_complete,
    check_copies,
    check_labels,
    check_verdicts,
    predictions,
    type_family,
    unpacked_bytes,
)
from cgscore.result.places import located, portable
from cgscore.result.schema import (
    JUDGED,
    JUDGED_D,
    VERDICT,
    Document,
    Violation,
    encode_document,
    read_document,
)
from cgscore.typing import Array

if TYPE_CHECKING:
    import pandas as pd

#: A result may take this much memory whatever the size of its file, and this many times its bytes.
ALLOWED_BYTES, MAX_RATIO = 1 << 28, 200.0


@dataclass(frozen=True)
class SavedResult:
    """The parts of `Scores` that a file holds."""

    table: pd.DataFrame
    loo: Array | None
    d: Array
    alpha: Array
    classes: NDArray[Any]
    complexity: dict[Any, float]
    meta: dict[str, Any]
    judged_loo: Array | None = None
    judged_d: Array | None = None
    judged_labels: JudgedLabels | None = None


def write_result(result: SavedResult, path: Path) -> None:
    """Write a result to one Parquet file, in full precision.

    The file is written beside its final name and then renamed, so an interrupted or failed write
    leaves an older file as it was.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pa.Table.from_pandas(result.table, preserve_index=False)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
        raise ResultError(f"Ids or labels cannot be saved as Parquet: {error}") from error
    arrow = arrow.append_column("d", pa.array(result.d))
    arrow = arrow.append_column("alpha", pa.array(result.alpha))
    if result.judged_d is not None:
        arrow = arrow.append_column(JUDGED_D, pa.array(result.judged_d))
    if result.judged_labels is not None:
        for name, values in result.judged_labels.vectors().items():
            arrow = arrow.append_column(f"{VERDICT}{name}", pa.array(values))
    for name, loo in (("loo", result.loo), (JUDGED, result.judged_loo)):
        if loo is not None:
            flat = pa.array(np.ascontiguousarray(loo).reshape(-1))
            column = pa.FixedSizeListArray.from_arrays(flat, loo.shape[1])
            arrow = arrow.append_column(name, column)
    complexity = list(result.complexity.values())
    meta = portable(result.meta, path.parent)
    document = encode_document(meta, result.classes.tolist(), complexity)
    arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), **document})
    replace_file(path, lambda file: pq.write_table(arrow, file, compression="zstd"))


def read_result(path: Path, *, max_ratio: float = MAX_RATIO) -> SavedResult:
    """The parts of a saved result.

    Parameters
    ----------
    path : Path
        The file.
    max_ratio : float
        A file that would unpack to more than this many times its size, and to more than 256 MB, is
        refused before it is unpacked.

    Raises
    ------
    ResultError
        The file is missing, damaged, not a result, or from a newer version.
    MemoryLimitError
        There is not enough memory for it.
    """
    import pyarrow.parquet as pq

    if not path.is_file():
        problem = "is not a file" if path.exists() else "does not exist"
        raise ResultError(f"{path} {problem}.")
    # Arrow raises errors of several unrelated types for damaged files.
    try:
        footer = pq.read_metadata(path)
        schema = footer.schema.to_arrow_schema()
    except Exception as error:
        raise ResultError(_incomplete(path, error)) from error
    try:
        document = read_document(footer.metadata or {}, str(path))
        check_columns(schema, document)
        limit = ALLOWED_BYTES + max_ratio * path.stat().st_size
        _check_memory(unpacked_bytes(footer, schema, document), limit)
        texts = [field.name for field in schema if type_family(field.type) in ("text", "bytes")]
        try:
            with pq.ParquetFile(path, metadata=footer, read_dictionary=texts) as file:
                arrow = file.read(use_threads=False)
        except Exception as error:
            raise ResultError(_incomplete(path, error)) from error
        parts = _parts(_with_texts(arrow, schema, texts, limit), document)
        return replace(parts, meta=located(parts.meta, path.parent))
    except Violation as error:
        raise ResultError(
            f"{path} is not a result as cgscore saves it: {error}. Score the data again."
        ) from error


def _incomplete(path: Path, error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{path} is not a complete Parquet file: {reason}"


def _check_memory(needed: int, limit: float) -> None:
    """Refuse more bytes than a file of this size may take, or than the machine has."""
    if needed > limit:
        raise Violation(
            f"it would unpack to {show_bytes(needed)}, which a file of its size is not trusted to "
            "hold (load(path, max_ratio=...) in Python raises the limit)"
        )
    if needed > available_memory():
        raise MemoryLimitError(
            f"The result takes {show_bytes(needed)} of memory; {show_bytes(available_memory())} "
            "is free. Use a machine with more memory."
        )


def _with_texts(arrow: Any, schema: Any, texts: list[str], limit: float) -> Any:
    """The table with its texts written out.

    They were read as dictionaries, whose full length can be computed before they are written out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        total = 0
        for name in texts:
            for part in arrow[name].chunks:
                lengths = pc.cast(pc.binary_length(part.dictionary), pa.int64())
                total += pc.sum(lengths.take(part.indices)).as_py() or 0
        _check_memory(total, limit)
        for name in texts:
            whole = arrow[name].cast(schema.field(name).type)
            arrow = arrow.set_column(arrow.schema.get_field_index(name), schema.field(name), whole)
    except pa.ArrowException as error:
        raise Violation(f"texts cannot be read ({error})") from error
    return arrow


def _parts(arrow: Any, document: Document) -> SavedResult:
    """The parts of a result, from columns of the right types, with their values checked."""
    check_complete(arrow, document.vectors)
    loo = {name: predictions(arrow, document, name) for name in document.lists}
    vectors = {name: arrow[name].to_numpy().astype(np.float64) for name in document.vectors}
    table = as_frame(arrow.drop_columns([*document.vectors, *document.lists]))
    classes = check_labels(table, document)
    check_copies(table)
    judged_labels = None
    if document.verdicts is not None:
        saved = {name.removeprefix(VERDICT): vectors[name] for name in document.verdict_vectors}
        check_verdicts(saved, len(classes))
        codes = np.searchsorted(classes, table["given_label"].to_numpy()).astype(np.intp)
        judged_labels = restored(saved, document.verdicts, codes, len(classes))
    return SavedResult(
        table=table,
        loo=loo.get("loo"),
        judged_loo=loo.get(JUDGED),
        d=vectors["d"],
        alpha=vectors["alpha"],
        judged_d=vectors.get(JUDGED_D),
        judged_labels=judged_labels,
        classes=classes,
        complexity=dict(zip(classes.tolist() or ["target"], document.complexity, strict=True)),
        meta=document.meta,
    )
