"""Arrays saved by numpy: ``.npz``, ``.npy``, and labels kept in a file of their own."""

from __future__ import annotations

import math
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeGuard

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset, in_memory
from cgscore.data.readers.bounded import (
    check_expansion,
    check_regular,
    refuse_expansion,
    refuse_size,
)
from cgscore.data.readers.mapped import (
    Header,
    array_header,
    content_start,
    mapped_file,
    mapped_member,
    mapped_sample,
)
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.sample import Sample, count_labels, is_large, rows_of_sample
from cgscore.errors import LabelError, SourceError
from cgscore.labels import label_vector
from cgscore.spelling import spelled

Check = Callable[[object, int, int], None]

#: What numpy and zipfile raise on files that are not what they seem.
_FILE_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    SyntaxError,
    RuntimeError,
    NotImplementedError,
    RecursionError,
    MemoryError,
    OverflowError,
    OSError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
_INPUT_KEYS = ("X", "x", "data", "images", "features")
_LABEL_KEYS = ("y", "Y", "labels", "label", "target")
MAX_LABEL_CHARACTERS = 10_000  # characters of a label in a text file


def read_npz(path: Path, options: ReadOptions) -> Dataset:
    """Inputs ``X`` and labels ``y`` of an ``.npz`` archive; ``ids`` too, if it has them."""
    with _opened(path) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise SourceError(f"{path} is a single array, not an archive. Rename it to .npy.")
        inputs = _key(path, archive, _INPUT_KEYS, "inputs")
        X = _inputs(path, archive, inputs)
        y = None
        if options.labels is None:
            y = _array(path, archive, _key(path, archive, _LABEL_KEYS, "labels"))
        ids = _array(path, archive, "ids") if "ids" in archive.files else None
    dataset = in_memory(X, y)
    _check_ids(path, ids, len(X))
    return dataset if ids is None else Dataset(dataset.X, dataset.y, ids)


def _check_ids(path: Path, ids: NDArray[Any] | None, n: int) -> None:
    if ids is not None and (ids.shape != (n,) or len(np.unique(ids)) != n):
        raise SourceError(f"{path}: 'ids' must be {n:,} different names, one per row of X.")


def read_features(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Inputs ``X`` of an ``.npz`` archive, and the ``ids`` of its rows if it has them."""
    if not path.exists():
        raise SourceError(f"{path}, the features, does not exist.")
    check_regular(path)
    with _opened(path) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise SourceError(f"{path} is a single array, not an archive. Rename it to .npy.")
        X = _array(path, archive, _key(path, archive, _INPUT_KEYS, "features"))
        ids = _array(path, archive, "ids") if "ids" in archive.files else None
    _check_ids(path, ids, len(X))
    return in_memory(X, None).X, ids


def archive_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Everything that an ``.npz`` archive holds."""
    with _opened(path) as archive:
        return {key: _array(path, archive, key) for key in archive.files}


def read_npy(path: Path, options: ReadOptions) -> Dataset:
    """Inputs of an ``.npy`` file; the labels come from elsewhere."""
    with path.open("rb") as file, _blame_file(path):
        _check_claims(path, file, refuse_expansion)
        mapped = None if file.read(2) == b"PK" else mapped_file(path, file)
    loaded = mapped
    if loaded is None:
        with _opened(path) as loaded:
            if not isinstance(loaded, np.ndarray):
                raise SourceError(f"{path} is an archive, not a single array. Rename it to .npz.")
    if options.labels is None:
        raise LabelError(
            f"{path} holds inputs only. Say where the labels are: {spelled(labels='FILE')}"
        )
    return in_memory(loaded, None)


def sample_npz(path: Path, options: ReadOptions) -> Sample | None:
    """Some rows of a large archive: spread if it is not compressed, else the first ones."""
    with path.open("rb") as file, _blame_file(path):
        if file.read(2) != b"PK":
            return None
        _check_claims(path, file, check_expansion)
        with zipfile.ZipFile(file) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            key = next((name for name in _INPUT_KEYS if name in names), None)
            labels = next((name for name in _LABEL_KEYS if name in names), None)
            if key is None or (labels is None and options.labels is None):
                return None
            member = archive.getinfo(f"{key}.npy")
            with archive.open(member) as part:
                header = array_header(part)
                if not _is_large(header):
                    return None
                shape, columns_first, dtype = header
                rows = rows_of_sample(math.prod(shape[1:]))
                if member.compress_type == zipfile.ZIP_STORED:
                    start = content_start(file, member) + part.tell()
                    X, positions = mapped_sample(path, header, start, rows)
                elif columns_first:
                    return None  # the first rows are everywhere
                else:
                    rows = min(rows, shape[0])
                    content = part.read(dtype.itemsize * rows * math.prod(shape[1:]))
                    X = np.frombuffer(content, dtype).reshape(rows, *shape[1:])
                    positions = np.arange(rows)
    y = None
    if options.labels is None:
        with _opened(path, check_expansion) as loaded:
            y = label_vector(_array(path, loaded, str(labels)))
        if len(y) != shape[0]:
            raise LabelError(f"{path}: {len(y):,} labels for {shape[0]:,} examples.")
    return _sample(X, y, positions, shape[0], path)


def sample_npy(path: Path, options: ReadOptions) -> Sample | None:
    """Some rows of a large array."""
    with path.open("rb") as file, _blame_file(path):
        if file.read(2) == b"PK" or options.labels is None:
            return None
        _check_claims(path, file, check_expansion)
        header = array_header(file)
        if not _is_large(header):
            return None
        rows = rows_of_sample(math.prod(header[0][1:]))
        X, positions = mapped_sample(path, header, file.tell(), rows)
    return _sample(X, None, positions, header[0][0], path)


def _sample(
    X: NDArray[Any], y: NDArray[Any] | None, positions: NDArray[np.intp], n: int, path: Path
) -> Sample:
    dataset = in_memory(X, None if y is None else y[positions])
    counts = None if y is None else count_labels([y], path)
    return Sample(replace(dataset, ids=positions), positions, n, counts)


def _is_large(header: Header | None) -> TypeGuard[Header]:
    return header is not None and is_large(math.prod(header[0]))


def read_labels(path: str | Path) -> NDArray[Any]:
    """Labels from a ``.npy`` file, or from a text file with one label a line."""
    path = Path(path)
    try:
        return _read_labels(path)
    except OSError as error:
        reason = error.strerror or error
        raise SourceError(f"{path}, the labels, cannot be read: {reason}.") from error


def _read_labels(path: Path) -> NDArray[Any]:
    refuse_size(path, check_regular(path))
    if path.suffix.lower() == ".npy":
        with _opened(path) as loaded:
            if not isinstance(loaded, np.ndarray):
                raise SourceError(f"{path} is an archive, not a single array of labels.")
            return loaded
    try:
        lines = list(_label_lines(path))
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path} is neither a .npy file nor text with one label a line ({error.reason})."
        ) from error
    if not lines:
        raise LabelError(f"{path} has no label in line 1. Expected one label a line.")
    if all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", line) for line in lines):
        return np.array([int(line) for line in lines])
    return np.array(lines, dtype=object)


def _label_lines(path: Path) -> Iterator[str]:
    """The lines of a text file without the blanks around them, none of them empty."""
    with path.open(encoding="utf-8-sig") as file:
        number = 0
        while line := file.readline(MAX_LABEL_CHARACTERS + 1):
            number += 1
            label = line.strip()
            if len(line) > MAX_LABEL_CHARACTERS and not line.endswith("\n"):
                raise LabelError(
                    f"{path} has more than {MAX_LABEL_CHARACTERS:,} characters in line {number}. "
                    "Expected one label a line."
                )
            if label:
                yield label
            elif line.endswith("\n"):
                raise LabelError(
                    f"{path} has no label in line {number}. Expected one label a line."
                )


@contextmanager
def _opened(path: Path, check: Check = refuse_expansion) -> Iterator[Any]:
    """What numpy makes of a file, while the file is open."""
    with path.open("rb") as file:
        with _blame_file(path):
            _check_claims(path, file, check)
            loaded = np.load(file, allow_pickle=False)
        yield loaded


@contextmanager
def _blame_file(path: Path) -> Iterator[None]:
    """A context in which what numpy and zipfile raise is the file's fault."""
    try:
        yield
    except _FILE_ERRORS as error:
        raise SourceError(_unreadable(path, error)) from error


def _check_claims(path: Path, file: BinaryIO, check: Check) -> None:
    """Refuse headers that promise more than the file holds, before numpy allocates for them."""
    file.seek(0)
    magic = file.read(6)
    file.seek(0)
    if magic == b"\x93NUMPY":
        _check_header(path, file, path.stat().st_size)
    elif magic[:2] == b"PK":
        whole = path.stat().st_size  # what a member says of its compressed size may be a lie
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                check(path, min(member.compress_size, whole), member.file_size)
                if member.filename.endswith(".npy"):
                    with archive.open(member) as part:
                        _check_header(
                            f"array '{member.filename}' of {path}", part, member.file_size
                        )
    else:
        raise ValueError("it starts with neither the mark of .npy nor that of .npz")
    file.seek(0)


def _check_header(name: object, file: IO[bytes], size: int) -> None:
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        return  # numpy itself says what it does not know
    shape, _, dtype = read(file)
    claimed = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and claimed > size:
        raise SourceError(
            f"{name} holds {size:,} bytes; its header promises {claimed:,} for the shape {shape}."
        )


def _array(path: Path, archive: Any, key: str) -> NDArray[Any]:
    try:
        return np.asarray(archive[key])
    except _FILE_ERRORS as error:
        raise SourceError(_unreadable(path, error, f"array '{key}' of ")) from error


def _inputs(path: Path, archive: Any, key: str) -> NDArray[Any]:
    """An array that is mapped into memory if it is large, and loaded otherwise."""
    with path.open("rb") as file, _blame_file(path):
        mapped = mapped_member(path, file, archive.zip.getinfo(f"{key}.npy"))
    return _array(path, archive, key) if mapped is None else mapped


def _unreadable(path: Path, error: Exception, part: str = "") -> str:
    if "allow_pickle" in str(error) or "Object arrays" in str(error):
        return (
            f"{part}{path} holds pickled Python objects, which could run code when read. "
            "Save it again as plain numbers or text."
        )
    return f"{part}{path} is truncated or not a file of numpy's ({error})."


def _key(path: Path, archive: Any, candidates: tuple[str, ...], what: str) -> str:
    for key in candidates:
        if key in archive.files:
            return key
    raise SourceError(
        f"{path} has no array '{candidates[0]}' with the {what}. "
        f"Its arrays are {', '.join(archive.files) or 'none'}; "
        f"save them as numpy.savez(file, X=inputs, y=labels)."
    )
