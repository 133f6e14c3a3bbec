"""Arrays of numpy's files that are mapped into memory: pages are read when rows are needed.

Large arrays are, so that methods that stream need no memory for them: a ``.npy`` file, or a member
of an ``.npz`` archive that is not compressed, whose checksum is compared once. The file must not be
changed or cut off as long as the data are in use.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeGuard

import numpy as np
from numpy.typing import NDArray

from cgscore.data.readers.sample import spread

MIN_MAPPED_BYTES = 1 << 28  # smaller arrays are loaded
CHECKED_BYTES = 1 << 24  # at a time, of a member's checksum

#: Shape, whether columns come first, and type.
Header = tuple[tuple[int, ...], bool, np.dtype[Any]]


def array_header(file: IO[bytes]) -> Header | None:
    """The header of a plain array; None for arrays of which no part is read."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        return None
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, columns_first, dtype = read(file)
    plain = len(shape) > 1 and dtype.kind in "buif"
    return (shape, columns_first, dtype) if plain else None


def content_start(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where the content of a member that is not compressed starts."""
    file.seek(member.header_offset)
    name, extra = struct.unpack("<26xHH", file.read(30))
    return int(member.header_offset + 30 + name + extra)


def mapped_sample(
    path: Path, header: Header, start: int, rows: int
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Some rows, spread over all, of an array that starts there; and their positions."""
    positions = spread(header[0][0], rows)
    return np.array(_mapped(path, header, start)[positions]), positions


def mapped_file(path: Path, file: BinaryIO) -> NDArray[Any] | None:
    """The array of a ``.npy`` file; None if it is small, or its rows do not follow each other."""
    file.seek(0)
    header = array_header(file)
    return _mapped(path, header, file.tell()) if _worth_mapping(header) else None


def mapped_member(path: Path, file: BinaryIO, member: zipfile.ZipInfo) -> NDArray[Any] | None:
    """An array of an ``.npz`` file; None as for `mapped_file`, or if it is compressed.

    Raises
    ------
    zipfile.BadZipFile
        The content does not have the checksum of the archive.
    """
    if member.compress_type != zipfile.ZIP_STORED or member.file_size < MIN_MAPPED_BYTES:
        return None
    start = content_start(file, member)
    file.seek(start)
    header = array_header(file)
    if not _worth_mapping(header):
        return None
    array = _mapped(path, header, file.tell())
    file.seek(start)
    checksum, left = 0, member.file_size
    while left and (content := file.read(min(left, CHECKED_BYTES))):
        checksum, left = zlib.crc32(content, checksum), left - len(content)
    if left or checksum != member.CRC:
        raise zipfile.BadZipFile(f"wrong checksum of {member.filename}")
    return array


def _worth_mapping(header: Header | None) -> TypeGuard[Header]:
    if header is None:
        return False
    shape, columns_first, dtype = header
    return not columns_first and math.prod(shape) * dtype.itemsize >= MIN_MAPPED_BYTES


def _mapped(path: Path, header: Header, start: int) -> NDArray[Any]:
    shape, columns_first, dtype = header
    return np.memmap(path, dtype, "r", start, shape, "F" if columns_first else "C")
