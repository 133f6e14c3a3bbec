"""How much an Arrow file unpacks to, read from the descriptions of its record batches.

Feather files and saved Hugging Face datasets may be compressed buffer by buffer. Each buffer then
starts with the number of bytes it unpacks to, so the whole is known before any of it is unpacked.
pyarrow does not show these descriptions; they are FlatBuffers of a fixed schema
(``Message.fbs`` and ``File.fbs`` of Arrow), of which the few fields needed are read here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cgscore.data.readers.bounded import check_columns, refuse_expansion

_DICTIONARY, _BATCH = 2, 3  # types of messages that hold data
_MARK = b"ARROW1"
_BLOCK = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("_", "<i4"), ("body", "<i8")])
_BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
_NODE = np.dtype([("length", "<i8"), ("nulls", "<i8")])


class Sizes(NamedTuple):
    """Rows of each record batch, and the bytes of all once unpacked."""

    rows: list[int]
    size: int


def check_sizes(
    path: object,
    messages: Iterable[Any],
    packed: int,
    max_columns: int | None,
    check: Callable[[object, int, int], None] = refuse_expansion,
) -> Sizes:
    """How much record batches hold; `check` refuses more than their file or the memory can."""
    size = cells = 0
    rows: list[int] = []
    for message in messages:
        if message.type not in ("record batch", "dictionary"):
            continue
        batch, body = _Table.root(message.metadata), message.body
        kind = batch.number(1, "<B")
        batch = batch.table(2)
        if kind == _DICTIONARY:
            batch = batch.table(1)
        elif kind != _BATCH:
            raise ValueError("a message of an unknown type")
        columns = len(batch.vector(1, _NODE))
        check_columns(path, columns, max_columns)
        length = batch.number(0, "<q")
        if kind == _BATCH:
            rows.append(length)
        cells += 8 * length * max(1, columns)
        buffers = batch.vector(2, _BUFFER)
        size += (
            sum(_unpacked_bytes(body, buffer) for buffer in buffers) if batch.has(3) else body.size
        )
        check(path, packed, max(size, cells))
    return Sizes(rows, max(size, cells))


def _unpacked_bytes(body: Any, buffer: Any) -> int:
    offset, length = int(buffer["offset"]), int(buffer["length"])
    if length < 8:
        return 0
    (size,) = struct.unpack_from("<q", memoryview(body), offset)
    return length if size < 0 else int(size)  # -1 where compression did not pay


def file_messages(source: Any) -> Iterator[Any]:
    """The messages that the footer of an Arrow file points to."""
    import pyarrow as pa

    size = source.size()
    source.seek(size - 10)
    tail = source.read(10)
    if tail[4:] != _MARK:
        raise ValueError("it does not end as an Arrow file does")
    (length,) = struct.unpack("<i", tail[:4])
    if not 0 < length <= size - 10:
        raise ValueError("its footer is longer than the file")
    source.seek(size - 10 - length)
    footer = _Table.root(source.read(length))
    for field in (2, 3):  # dictionaries, record batches
        for block in footer.vector(field, _BLOCK):
            source.seek(int(block["offset"]))
            yield pa.ipc.read_message(source)
    source.seek(0)


class _Table:
    """A table of a FlatBuffer: fields by number, absent ones are zero or empty."""

    def __init__(self, content: memoryview, position: int) -> None:
        self._content, self._position = content, position
        (back,) = struct.unpack_from("<i", content, position)
        self._fields = position - back
        if self._fields < 0:
            raise ValueError("a table without fields")
        (self._length,) = struct.unpack_from("<H", content, self._fields)

    @classmethod
    def root(cls, content: Any) -> _Table:
        """The outermost table of a FlatBuffer."""
        view = memoryview(content)
        return cls(view, struct.unpack_from("<I", view, 0)[0])

    def _place(self, field: int) -> int:
        """Where a field is; 0 if it is absent."""
        entry = 4 + 2 * field
        if entry + 2 > self._length:
            return 0
        (offset,) = struct.unpack_from("<H", self._content, self._fields + entry)
        return self._position + offset if offset else 0

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self._place(field) > 0

    def number(self, field: int, form: str) -> int:
        """A number."""
        place = self._place(field)
        return int(struct.unpack_from(form, self._content, place)[0]) if place else 0

    def table(self, field: int) -> _Table:
        """A table within this one."""
        place = self._place(field)
        if not place:
            raise ValueError("a message without a content")
        return _Table(self._content, place + self.number(field, "<I"))

    def vector(self, field: int, dtype: np.dtype[Any]) -> Any:
        """A vector of structures."""
        place = self._place(field)
        if not place:
            return np.empty(0, dtype)
        start = place + self.number(field, "<I")
        (count,) = struct.unpack_from("<I", self._content, start)
        return np.frombuffer(self._content, dtype, count, start + 4) if count else []
