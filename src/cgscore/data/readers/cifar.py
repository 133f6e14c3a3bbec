"""CIFAR-10 and CIFAR-100 in the python layout: pickled batches, read without running them.

A pickle is a program. The one here may build dictionaries, lists, texts, numbers and arrays of
bytes; anything else it names is refused before it exists. All of its instructions are looked at
first: only those in `_ALLOWED_OPCODES` may occur, and none may claim more bytes than the file has.
The interpreter is Python's own, written in Python: its memo is a dictionary, so a large index costs
nothing. Here it also refuses what would take forever to compare or to show: keys that are not
texts, and long or nested tuples.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cgscore.data.column_names import list_names
from cgscore.data.dataset import Dataset
from cgscore.data.readers.bounded import check_member, first_line, reading
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.sample import Sample, count_labels, is_large, rows_of_sample, spread
from cgscore.errors import SourceError

_TRAIN = {"cifar-10": [f"data_batch_{i}" for i in range(1, 6)], "cifar-100": ["train"]}
_TEST = {"cifar-10": ["test_batch"], "cifar-100": ["test"]}
_META = {"cifar-10": ("batches.meta", b"label_names"), "cifar-100": ("meta", b"fine_label_names")}
_PIXELS = 3 * 32 * 32
_MAX_BYTES = 1 << 28  # bytes of one batch; the largest published one has 155 MB
_MAX_INSTRUCTIONS = 2_000_000  # of one batch; the largest published one has 460,000
_MAX_MARKS = 100  # lists, tuples and dictionaries begun within each other
_MAX_TUPLE = 16  # values of a tuple; numpy's have five
_MAX_TUPLE_DEPTH = 3
_MAX_NAME = 255  # bytes of a file name or the name of a class

_ALLOWED_OPCODES = set(
    re.findall(
        r"\w+",
        "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE "
        "INT BININT BININT1 BININT2 LONG LONG1 FLOAT BINFLOAT "
        "STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 "
        "UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 "
        "EMPTY_LIST APPEND APPENDS LIST EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 "
        "EMPTY_DICT DICT SETITEM SETITEMS PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET "
        "GLOBAL STACK_GLOBAL REDUCE BUILD",
    )
)


def is_cifar_folder(folder: Path) -> bool:
    """Whether a folder holds batches of CIFAR-10 or CIFAR-100."""
    return _kind(folder) is not None


def _kind(folder: Path) -> str | None:
    for kind in ("cifar-10", "cifar-100"):
        path = folder / _META[kind][0]
        if path.exists() and not path.is_dir():
            return kind
    return None


def read_folder(folder: Path, options: ReadOptions) -> Dataset:
    """The batches of one split as images; CIFAR-100 with its fine labels by default."""
    return _read(folder, options, None)[0]


def sample_folder(folder: Path, options: ReadOptions) -> Sample | None:
    """Some images of each batch of one split; None if they are few."""
    kind = _kind(folder) or "cifar-10"
    paths = [folder / name for name in (_TEST if options.split == "test" else _TRAIN)[kind]]
    stored = sum(path.stat().st_size for path in paths if path.is_file())
    if not is_large(stored):
        return None
    dataset, labels, positions = _read(folder, options, rows_of_sample(_PIXELS) // len(paths))
    return Sample(dataset, positions, len(labels), count_labels([labels], folder))


def _read(
    folder: Path, options: ReadOptions, rows: int | None
) -> tuple[Dataset, NDArray[Any], NDArray[np.intp]]:
    """The images, or so many of each batch; all labels; and where the images are among all."""
    kind = _kind(folder) or "cifar-10"
    split = options.split or "train"
    if split not in ("train", "test"):
        raise SourceError(f"{folder}: split must be train or test; got {split!r}.")
    key = {"cifar-10": "labels", "cifar-100": options.label_column or "fine_labels"}[kind]
    images: list[NDArray[np.uint8]] = []
    labels: list[int] = []
    ids: list[Any] = []
    positions: list[NDArray[np.intp]] = []
    for name in (_TRAIN if split == "train" else _TEST)[kind]:
        path = folder / name
        if not path.exists():
            raise SourceError(f"{path}, a part of the {split} split, does not exist.")
        check_member(path, folder)
        batch = unpickle(path)
        pixels, values = batch.get(b"data"), batch.get(key.encode())
        if not isinstance(pixels, np.ndarray) or pixels.ndim != 2 or pixels.shape[1] != _PIXELS:
            raise SourceError(f"{path} has no array 'data' of {_PIXELS:,} numbers per image.")
        if not isinstance(values, list) or not all(map(_is_label, values)):
            keys = [name.decode(errors="replace") for name in batch if isinstance(name, bytes)]
            raise SourceError(f"{path} has no labels {key!r}. It holds {list_names(keys)}.")
        if len(values) != len(pixels):
            raise SourceError(f"{path} has {len(values):,} labels for {len(pixels):,} images.")
        chosen = np.arange(len(pixels)) if rows is None else spread(len(pixels), rows)
        positions.append(len(labels) + chosen)
        images.append(pixels if rows is None else pixels[chosen])
        labels += values
        names = batch.get(b"filenames")
        ids += (
            names if isinstance(names, list) and len(names) == len(values) else [None] * len(values)
        )
    X = np.concatenate(images).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    texts = [name.decode(errors="replace") if _is_name(name) else "" for name in ids]
    names = _names(folder, kind)
    where, y = np.concatenate(positions), np.array(labels)
    unique = len(set(texts)) == len(y)
    dataset = Dataset(
        np.ascontiguousarray(X),
        y[where],
        np.array(texts, dtype=object)[where] if unique else where,
        class_names=dict(enumerate(names)) if key != "coarse_labels" else None,
        image=True,
    )
    return dataset, y, where


def _names(folder: Path, kind: str) -> list[str]:
    name, key = _META[kind]
    check_member(folder / name, folder)
    class_names = unpickle(folder / name).get(key)
    if not isinstance(class_names, list) or not all(map(_is_name, class_names)):
        raise SourceError(f"{folder / name} has no list of class names.")
    return [name.decode(errors="replace") for name in class_names]


def _is_label(value: object) -> bool:
    return isinstance(value, int) and -(1 << 63) <= value < 1 << 63


def _is_name(value: object) -> bool:
    return isinstance(value, bytes) and len(value) <= _MAX_NAME


def unpickle(path: Path) -> dict[Any, Any]:
    """The dictionary in a batch file, built of plain values and arrays of bytes only."""
    if path.stat().st_size > _MAX_BYTES:
        raise SourceError(f"{path} is larger than any batch of CIFAR.")
    try:
        with reading(path, "batch of CIFAR"):
            written = path.read_bytes()
            _check_instructions(written)
            content = _Plain(io.BytesIO(written), encoding="bytes").load()
    except Refused as error:
        raise SourceError(f"{path} {error}") from None
    if not isinstance(content, dict):
        raise SourceError(f"{path} is not a batch of CIFAR: it holds a {type(content).__name__}.")
    try:
        return {
            key: value.built() if isinstance(value, _Array) else value
            for key, value in content.items()
        }
    except Refused as error:
        raise SourceError(f"{path} {error}") from None


class Refused(SourceError):
    """Something in a pickle that is not a plain value or an array of bytes."""


def _check_instructions(written: bytes) -> None:
    """Refuse a pickle with instructions that plain values do not need, without running any."""
    marks = 0
    try:
        for count, (instruction, argument, _) in enumerate(pickletools.genops(written)):
            if instruction.name not in _ALLOWED_OPCODES:
                raise Refused(
                    f"uses the pickle instruction {instruction.name}, which could run code. Only "
                    "arrays of bytes, numbers and texts are read from pickles."
                )
            if instruction.name == "FRAME" and int(argument or 0) > len(written):
                raise Refused(f"claims {argument:,} bytes; the file holds {len(written):,}.")
            if instruction.name == "MARK":
                marks += 1
            elif pickletools.markobject in instruction.stack_before:
                marks = max(0, marks - 1)
            if marks > _MAX_MARKS:
                raise Refused(f"nests values more than {_MAX_MARKS} deep.")
            if count > _MAX_INSTRUCTIONS:
                raise Refused(f"has more than {_MAX_INSTRUCTIONS:,} pickle instructions.")
    except ValueError as error:  # among others, a text said to be longer than the file
        raise Refused(f"is not a complete batch of CIFAR: {first_line(error)}") from error


class _Type:
    """Stands for a numpy dtype in a pickle."""

    def __init__(self, name: object, *_: object) -> None:
        if not isinstance(name, str | bytes):
            raise Refused(f"holds an array whose type is a {type(name).__name__}; expected u1.")
        if name not in ("u1", b"u1"):
            raise Refused(f"holds an array of type {name[:20]!r}; expected bytes (u1).")

    def __setstate__(self, state: object) -> None:
        """Ignore byte order and alignment: bytes have none."""


class _Array:
    """Stands for a numpy array in a pickle; keeps its bytes and its shape."""

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise Refused("holds an array that numpy did not write.")
        _, shape, kind, by_columns, content = state
        if not isinstance(kind, _Type) or not isinstance(content, bytes):
            raise Refused("holds an array of something other than bytes.")
        if not isinstance(shape, tuple) or not all(map(_is_label, shape)):
            raise Refused("holds an array without a shape.")
        self._shape, self._content, self._order = shape, content, "F" if by_columns else "C"

    def built(self) -> NDArray[np.uint8]:
        """The array itself."""
        try:
            flat = np.frombuffer(self._content, np.uint8)
            return flat.reshape(self._shape, order="F" if self._order == "F" else "C")
        except (AttributeError, ValueError) as error:
            raise Refused(f"holds an array that is damaged ({error}).") from error


def _new_array(*_: object) -> _Array:
    return _Array()


_RUN: dict[int, Callable[..., None]] = pickle._Unpickler.dispatch


class _Plain(pickle._Unpickler):
    """Unpickles plain values and arrays of bytes; refuses every other name."""

    dispatch: ClassVar[dict[int, Callable[..., Any]]] = dict(_RUN)
    stack: list[Any]
    metastack: list[list[Any]]

    def __init__(self, file: io.BytesIO, *, encoding: str) -> None:
        super().__init__(file, encoding=encoding)
        self._left = len(file.getbuffer())  # bytes that `_encode` may still make

    def find_class(self, module: str, name: str) -> object:
        """One of the stand-ins above."""
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return _new_array
        if module == "numpy" and name == "ndarray":
            return _Array
        if module == "numpy" and name == "dtype":
            return _Type
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return self._encode
        raise Refused(
            f"asks for {module[:100]}.{name[:100]}, which could run code. Only "
            "arrays of bytes, numbers and texts are read from pickles."
        )

    def _encode(self, text: object, encoding: object) -> bytes:
        if not isinstance(text, str) or encoding != "latin1":
            raise Refused("encodes something that is not bytes.")
        self._left -= len(text)
        if self._left < 0:
            raise Refused("makes more bytes than the file holds.")
        return text.encode("latin1")

    def _reduce(self) -> None:
        function, arguments = self.stack[-2:]
        allowed = function in (_new_array, _Type, self._encode) if callable(function) else False
        if not allowed or not isinstance(arguments, tuple):
            raise Refused("calls something that is not a function.")
        _RUN[pickle.REDUCE[0]](self)

    def _build(self) -> None:
        if not isinstance(self.stack[-2], _Array | _Type):  # a class or function must stay as it is
            raise Refused("sets the state of something that is not an array.")
        _RUN[pickle.BUILD[0]](self)

    def _setitem(self) -> None:
        _check_keys(self.stack[-3], self.stack[-2:-1])
        _RUN[pickle.SETITEM[0]](self)

    def _setitems(self) -> None:
        _check_keys(self.metastack[-1][-1], self.stack[::2])
        _RUN[pickle.SETITEMS[0]](self)

    def _dict(self) -> None:
        _check_keys({}, self.stack[::2])
        _RUN[pickle.DICT[0]](self)

    def _append(self) -> None:
        _check_list(self.stack[-2])
        _RUN[pickle.APPEND[0]](self)

    def _appends(self) -> None:
        _check_list(self.metastack[-1][-1])
        _RUN[pickle.APPENDS[0]](self)

    def _tuple(self) -> None:
        _check_tuple(tuple(self.stack))
        _RUN[pickle.TUPLE[0]](self)

    def _tuple1(self) -> None:
        _check_tuple(tuple(self.stack[-1:]))
        _RUN[pickle.TUPLE1[0]](self)

    def _tuple2(self) -> None:
        _check_tuple(tuple(self.stack[-2:]))
        _RUN[pickle.TUPLE2[0]](self)

    def _tuple3(self) -> None:
        _check_tuple(tuple(self.stack[-3:]))
        _RUN[pickle.TUPLE3[0]](self)

    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.BUILD[0]] = _build
    dispatch[pickle.SETITEM[0]] = _setitem
    dispatch[pickle.SETITEMS[0]] = _setitems
    dispatch[pickle.DICT[0]] = _dict
    dispatch[pickle.APPEND[0]] = _append
    dispatch[pickle.APPENDS[0]] = _appends
    dispatch[pickle.TUPLE[0]] = _tuple
    dispatch[pickle.TUPLE1[0]] = _tuple1
    dispatch[pickle.TUPLE2[0]] = _tuple2
    dispatch[pickle.TUPLE3[0]] = _tuple3


def _check_keys(target: object, keys: list[Any]) -> None:
    if type(target) is not dict:
        raise Refused(f"sets items of a {type(target).__name__}.")
    for key in keys:
        if not isinstance(key, str | bytes):
            raise Refused(f"has a {type(key).__name__} as a key; expected a text.")


def _check_list(target: object) -> None:
    if type(target) is not list:
        raise Refused(f"appends to a {type(target).__name__}.")


def _check_tuple(values: tuple[Any, ...]) -> None:
    if len(values) > _MAX_TUPLE:
        raise Refused(f"has a tuple of {len(values):,} values; expected at most {_MAX_TUPLE}.")
    if _depth(values) > _MAX_TUPLE_DEPTH:
        raise Refused(f"nests tuples more than {_MAX_TUPLE_DEPTH} deep.")


def _depth(values: tuple[Any, ...]) -> int:
    """How deep tuples nest; quick, as those inside have passed `_check_tuple`."""
    return 1 + max((_depth(value) for value in values if isinstance(value, tuple)), default=0)
