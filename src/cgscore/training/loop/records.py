"""Loss, correctness and probabilities of every example after every epoch, in one file.

::

    a line of JSON         what the file holds: n, the classes, which probabilities, and the
                           digest of the training; padded
    a frame per epoch      seal, loss (float32), probability (float16), correctness (bits)

Frames have one size, and each is on the disk before the next is begun. A frame is sealed for its
epoch of this training (`execution.sealed`). After a kill the last one may be torn: its seal says
so, and it does not count.
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
from cgscore.execution.files import naming_failures
from cgscore.execution.sealed import seal
from cgscore.training.loop.evaluation import Evaluation

_FORMAT = 2
_LARGEST = 1 << 26  # bytes of a first line that is worth reading
_ALIGNED = 64


class Records:
    """What a `Recorder` wrote: arrays of epochs and examples, read when they are used.

    Parameters
    ----------
    file : path or bytes

    Attributes
    ----------
    classes : list
        The labels that the k columns of `probability` belong to.
    work : str
        Digest of the training that was recorded.
    """

    def __init__(self, file: str | os.PathLike[str] | bytes) -> None:
        name, content = _content(file)
        told, start = _head(name, content)
        self.classes: list[Any] = told["classes"]
        self.work = str(told["work"])
        self._n = int(told["n"])
        kind = _frame(self._n, len(self.classes), told["probability"] == "all")
        whole = (len(content) - start) // kind.itemsize
        frames = content[start : start + whole * kind.itemsize].view(kind)
        self._frames = frames[: _sound(frames, self.work)]

    def __len__(self) -> int:
        """Epochs."""
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
        """(epochs, n, k), or (epochs, n) where only that of the given label was kept."""
        return np.asarray(self._frames["probability"])


class Recorder:
    """Writes records, one epoch after the other.

    Parameters
    ----------
    path : Path or None
        The file; without one, records stay in memory.
    codes : (n,) array
        The class of each example, as a position in `classes`.
    classes : (k,) array
        The labels.
    every : bool
        Keep the probabilities of all classes, or of the given label only.
    work : str
        Digest of the training.
    done : int
        Epochs that an earlier run has written, and that stay. Later ones are cut off.

    Raises
    ------
    StorageError
        The file has fewer epochs than `done`, or is of other examples.
    """

    def __init__(
        self,
        path: Path | None,
        codes: NDArray[np.intp],
        classes: NDArray[Any],
        *,
        every: bool,
        work: str = "",
        done: int = 0,
    ) -> None:
        self._path, self._own, self._every = path, codes, every
        self._work, self._epoch = work, done
        self._kind = _frame(len(codes), len(classes), every)
        head = _line(
            {
                "cgscore records": _FORMAT,
                "n": len(codes),
                "probability": "all" if every else "given",
                "classes": classes.tolist(),
                "work": work,
            }
        )
        if done:
            self._file = _reopened(path, head, len(head) + done * self._kind.itemsize, done)
        else:
            with naming_failures(str(path)):
                self._file = io.BytesIO() if path is None else path.open("w+b")
            self._write(head)

    def append(self, found: Evaluation) -> None:
        """Add an epoch; when this returns, it is on the disk."""
        frame = np.zeros((), self._kind)
        frame["loss"] = found.loss
        frame["correct"] = np.packbits(found.correct)
        frame["probability"] = (
            found.probability
            if self._every
            else np.take_along_axis(found.probability, self._own[:, None], axis=1)[:, 0]
        )
        frame["seal"] = _seal(frame, self._work, self._epoch)
        self._epoch += 1
        self._write(frame.tobytes())

    def records(self) -> Records:
        """What has been written so far."""
        if isinstance(self._file, io.BytesIO):
            return Records(self._file.getvalue())
        return Records(self._file.name)

    def close(self) -> None:
        """Let go of the file."""
        if self._path is not None:
            self._file.close()

    def _write(self, content: bytes) -> None:
        with naming_failures(str(self._path)):
            self._file.write(content)
            self._file.flush()
            if self._path is not None:
                os.fsync(self._file.fileno())


def _frame(n: int, k: int, every: bool) -> np.dtype[Any]:
    return np.dtype(
        [
            ("seal", "<u8"),
            ("loss", "<f4", (n,)),
            ("probability", "<f2", (n, k) if every else (n,)),
            ("correct", "u1", (-(-n // 8),)),
        ]
    )


def _line(told: dict[str, Any]) -> bytes:
    text = json.dumps(told).encode()
    return text.ljust(-(-(len(text) + 1) // _ALIGNED) * _ALIGNED - 1) + b"\n"


def _content(file: str | os.PathLike[str] | bytes) -> tuple[str, NDArray[np.uint8]]:
    if isinstance(file, bytes):
        return "These records", np.frombuffer(file, np.uint8)
    try:
        return str(file), np.memmap(file, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error


def _head(name: str, content: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """What the first line says, and where it ends."""
    line, end, _ = content[:_LARGEST].tobytes().partition(b"\n")
    try:
        told = json.loads(line)
        if not end or told["cgscore records"] != _FORMAT or told["n"] < 1 or not told["classes"]:
            raise ValueError
        told["work"]
        return dict(told), len(line) + 1
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(f"{name}: no records of this version of cgscore.") from error


def _seal(frame: NDArray[Any], work: str, epoch: int) -> int:
    return seal(frame.tobytes()[8:], work, "records", epoch)


def _sound(frames: NDArray[Any], work: str) -> int:
    """How many frames there are before the first one that is damaged or from elsewhere."""
    for i in range(len(frames)):
        if int(frames["seal"][i]) != _seal(frames[i : i + 1], work, i):
            return i
    return len(frames)


def _reopened(path: Path | None, head: bytes, end: int, done: int) -> IO[bytes]:
    """The file of an earlier run, cut after the epochs that count."""
    if path is None:
        raise StorageError("Records in memory are of one run only.")
    if len(Records(path)) < done:
        raise StorageError(
            f"{path}: fewer than the {done} epochs that were trained are there, or they are "
            "damaged. Remove the folder to start again."
        )
    with naming_failures(str(path)):
        file = path.open("r+b")
        if file.read(len(head)) != head:
            file.close()
            raise StorageError(f"{path}: these records are of other examples.")
        file.truncate(end)
        file.seek(end)
    return file
