"""Loss, correctness and probabilities of every example after every epoch, in one file.

::

    a line of JSON         header: n, the classes, which probabilities, and the digest of the
                           training; padded
    a frame per epoch      seal, loss (float32), probability (float16), correctness (bits)

All frames have the same size, and each is on the disk before the next one is written. A frame is
sealed for its epoch of this training (`execution.sealed`). If the process is killed the last frame
may be incomplete; its seal shows that, and the frame is ignored.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import StorageError
from cgscore.execution.files import naming_failures, sync_file
from cgscore.execution.sealed import LENGTH, seal
from cgscore.training.loop.evaluation import Evaluation

_FORMAT = 2
_MAX_HEADER_LENGTH = 1 << 26
_ALIGNMENT = 64


class Records:
    """Records of a training: arrays over epochs and examples, read from the file on use.

    Parameters
    ----------
    file : path or bytes
        What a `Recorder` wrote.

    Attributes
    ----------
    classes : list
        The labels of the k columns of `probability`.
    work : str
        Digest of the training.
    """

    def __init__(self, file: str | os.PathLike[str] | bytes) -> None:
        name, content = _content(file)
        header, start = _parse_header(name, content)
        self.classes: list[Any] = header["classes"]
        self.work = str(header["work"])
        self._n = int(header["n"])
        dtype = _frame_dtype(self._n, len(self.classes), header["probability"] == "all")
        count = (len(content) - start) // dtype.itemsize
        frames = content[start : start + count * dtype.itemsize].view(dtype)
        self._frames = frames[: _intact_count(frames, self.work)]

    def __len__(self) -> int:
        """Number of epochs."""
        return len(self._frames)

    @property
    def loss(self) -> NDArray[np.float32]:
        """(epochs, n): cross-entropy of the given label."""
        return np.asarray(self._frames["loss"])

    @property
    def correct(self) -> NDArray[np.bool_]:
        """(epochs, n): whether the given label was predicted."""
        bits = np.asarray(self._frames["correct"])
        return np.unpackbits(bits, axis=1, count=self._n).view(np.bool_)

    @property
    def probability(self) -> NDArray[np.float16]:
        """(epochs, n, k), or (epochs, n) if only that of the given label was recorded."""
        return np.asarray(self._frames["probability"])


class Recorder:
    """Writes records, epoch by epoch.

    Parameters
    ----------
    path : Path or None
        The file; None records in memory.
    codes : (n,) array
        Class of each example, as a position in `classes`.
    classes : (k,) array
        The labels.
    all_classes : bool
        Record the probabilities of all classes, or that of the given label only.
    work : str
        Digest of the training.
    finished : int
        Epochs that an earlier run has written and that are kept. Later ones are cut off.

    Raises
    ------
    StorageError
        The file has fewer than `finished` epochs, or belongs to other examples.
    """

    def __init__(
        self,
        path: Path | None,
        codes: NDArray[np.intp],
        classes: NDArray[Any],
        *,
        all_classes: bool,
        work: str = "",
        finished: int = 0,
    ) -> None:
        self._path, self._codes, self._all_classes = path, codes, all_classes
        self._work, self._epoch = work, finished
        self._dtype = _frame_dtype(len(codes), len(classes), all_classes)
        header = _header_line(
            {
                "cgscore records": _FORMAT,
                "n": len(codes),
                "probability": "all" if all_classes else "given",
                "classes": classes.tolist(),
                "work": work,
            }
        )
        if finished:
            end = len(header) + finished * self._dtype.itemsize
            self._file = _reopened(path, header, end, finished)
        else:
            with naming_failures(str(path)):
                self._file = io.BytesIO() if path is None else path.open("w+b")
            self._write(header)

    def append(self, evaluation: Evaluation) -> None:
        """Add an epoch. It is on the disk when this returns."""
        frame = np.zeros((), self._dtype)
        frame["loss"] = evaluation.loss
        frame["correct"] = np.packbits(evaluation.correct)
        frame["probability"] = (
            evaluation.probability
            if self._all_classes
            else np.take_along_axis(evaluation.probability, self._codes[:, None], axis=1)[:, 0]
        )
        frame["seal"] = _frame_seal(frame, self._work, self._epoch)
        self._epoch += 1
        self._write(frame.tobytes())

    def records(self) -> Records:
        """The records written so far."""
        if isinstance(self._file, io.BytesIO):
            return Records(self._file.getvalue())
        return Records(self._file.name)

    def close(self) -> None:
        """Close the file."""
        if self._path is not None:
            self._file.close()

    def _write(self, content: bytes) -> None:
        with naming_failures(str(self._path)):
            self._file.write(content)
            self._file.flush()
            if self._path is not None:
                sync_file(self._file)


def _frame_dtype(n: int, k: int, all_classes: bool) -> np.dtype[Any]:
    return np.dtype(
        [
            ("seal", "<u8"),
            ("loss", "<f4", (n,)),
            ("probability", "<f2", (n, k) if all_classes else (n,)),
            ("correct", "u1", (-(-n // 8),)),
        ]
    )


def _header_line(header: dict[str, Any]) -> bytes:
    text = json.dumps(header).encode()
    return text.ljust(-(-(len(text) + 1) // _ALIGNMENT) * _ALIGNMENT - 1) + b"\n"


def _content(file: str | os.PathLike[str] | bytes) -> tuple[str, NDArray[np.uint8]]:
    """Name of the file in messages, and its bytes."""
    if isinstance(file, bytes):
        return "The records in memory", np.frombuffer(file, np.uint8)
    try:
        return str(file), np.memmap(file, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise StorageError(f"{file} cannot be read: {error}. Expected records.") from error


def _parse_header(name: str, content: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """The header, and the position of the first frame."""
    line, end, _ = content[:_MAX_HEADER_LENGTH].tobytes().partition(b"\n")
    try:
        header = json.loads(line)
        if not end or header["cgscore records"] != _FORMAT or header["n"] < 1:
            raise ValueError
        if not header["classes"]:
            raise ValueError
        header["work"]
        return dict(header), len(line) + 1
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(
            f"{name}: the first line is not a header. Expected records of this version of cgscore."
        ) from error


def _frame_seal(frame: NDArray[Any], work: str, epoch: int) -> int:
    return seal(frame.tobytes()[LENGTH:], work, "records", epoch)


def _intact_count(frames: NDArray[Any], work: str) -> int:
    """Number of frames before the first one that is damaged or of another training."""
    for i in range(len(frames)):
        if int(frames["seal"][i]) != _frame_seal(frames[i : i + 1], work, i):
            return i
    return len(frames)


def _reopened(path: Path | None, header: bytes, end: int, finished: int) -> IO[bytes]:
    """The file of an earlier run, truncated after its finished epochs."""
    if path is None:
        raise StorageError("Records in memory cannot be continued by another run. Give a path.")
    if len(Records(path)) < finished:
        raise StorageError(
            f"{path} has fewer than the {finished} epochs that were trained, or damaged ones. "
            "Remove the folder to start again."
        )
    with naming_failures(str(path)):
        file = path.open("r+b")
        if file.read(len(header)) != header:
            file.close()
            raise StorageError(
                f"{path} has records of other examples. Remove the folder to start again."
            )
        file.truncate(end)
        file.seek(end)
    return file
