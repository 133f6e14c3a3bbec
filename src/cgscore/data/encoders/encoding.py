"""Features of examples, encoded in batches and cached on disk.

Finished chunks of rows are files of a folder whose name follows from the inputs and the identity of
the encoder. An interrupted run resumes after the last chunk, and a second run with the same data
and encoder reads them all. Each is sealed for its place (`execution.sealed`): a chunk that is
damaged or from elsewhere is computed again, with a warning.
"""

from __future__ import annotations

import hashlib
import io
import time
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data.encoders.registry import Encoder
from cgscore.data.readers.spooled import RowWriter
from cgscore.errors import CGScoreWarning, DataError, OptionError, ResultError
from cgscore.execution.files import cache_folder, replace_file
from cgscore.execution.progress import Progress
from cgscore.execution.sealed import renewed, sealed, unsealed
from cgscore.typing import Array, Index

CHUNK_ROWS = 512  # examples in a file
TIMED_EXAMPLES = 32  # encoded for an estimate
TIMED_TOGETHER = 2000  # by an encoder that takes all examples at once
SCALINGS = ("none", "centre", "standardise", "whiten")


def encode(examples: Any, key: str | None, encoder: Encoder, progress: Progress) -> Array:
    """A row of features for every example.

    Parameters
    ----------
    examples : sequence
        Pictures (an array of bytes), rows of numbers, or a list of texts.
    key : str or None
        Changes when the examples or the output of the encoder do; None disables the cache.
    encoder : Encoder
        Turns a batch of examples into rows of numbers.
    progress : Progress
        Receives the number of encoded examples.
    """
    first, inverse = _distinct(examples)
    n = len(first)
    size = CHUNK_ROWS if encoder.batch else n
    folder = _folder(key, size)
    writer: RowWriter | None = None
    damaged: list[str] = []
    with ExitStack() as stack:
        advance = stack.enter_context(progress.phase("features", n))
        for start in range(0, n, size):
            stop = min(start + size, n)
            file = _chunk(folder, start)
            part = _load(file, stop - start, None if writer is None else writer.shape[0])
            if part is None and file is not None and file.exists():
                damaged.append(file.name)
            if part is not None:
                advance(stop - start, before=True)
            else:
                batches = []
                step = encoder.batch or n
                for begin in range(start, stop, step):
                    batch = _taken(examples, first[begin : min(begin + step, stop)])
                    batches.append(encoder(batch))
                    advance(len(batch))
                part = _concatenate(batches, encoder)
                _save(file, part)
            if writer is None:
                writer = stack.enter_context(RowWriter(n, part.shape[1:], part.dtype))
            _require_columns(part, writer.shape[0], encoder)
            writer.append(part)
        if damaged:
            warnings.warn(renewed(f"Features in {folder}", damaged), CGScoreWarning, stacklevel=2)
        if writer is None:
            raise DataError("There are no examples to encode.")
        features: Array = writer.array()
    return features if n == len(examples) else _repeated(features, inverse)


def _taken(examples: Any, positions: Index) -> Any:
    """Some examples."""
    return [examples[i] for i in positions] if isinstance(examples, list) else examples[positions]


def _repeated(features: Array, inverse: Index) -> Array:
    """The features of all examples from those of distinct ones."""
    with RowWriter(len(inverse), features.shape[1:], features.dtype) as writer:
        for start in range(0, len(inverse), CHUNK_ROWS):
            writer.append(features[inverse[start : start + CHUNK_ROWS]])
        return writer.array()


@dataclass(frozen=True)
class EncodingCost:
    """What it would cost to encode examples.

    Attributes
    ----------
    columns : int
        Numbers of each example; of an encoder that takes all examples at once, those of the timed
        ones.
    seconds : float
        For the examples that are not in the cache.
    timed : int
        Examples that were encoded for this estimate; 0 if all are in the cache.
    cached : int
        Examples whose features are in the cache.
    """

    columns: int
    seconds: float
    timed: int
    cached: int


def encoding_cost(
    examples: Any, key: str | None, encoder: Encoder, n: int, hint: str | None = None
) -> EncodingCost:
    """An estimate for n examples, from a few of them or from the cache.

    Parameters
    ----------
    examples, key, encoder
        As for `encode`; the examples may be a sample of the n, without a key.
    n : int
        All examples.
    hint : str or None
        That of `remember`, where the key is not known.
    """
    cached, columns = _remembered(hint, n) if key is None else _cached(examples, key, encoder)
    if cached == n:
        return EncodingCost(columns, 0.0, 0, n)
    together = TIMED_TOGETHER if encoder.batch is None else TIMED_EXAMPLES
    chosen = np.unique(np.linspace(0, len(examples) - 1, together).astype(np.intp))
    timed = [examples[i] for i in chosen]
    if not isinstance(examples, list):
        timed = np.stack(timed)  # type: ignore[assignment]
    step = encoder.batch or len(timed)
    if encoder.batch is not None:
        encoder(timed[:step])  # loads the model
    start = time.perf_counter()
    parts = [encoder(timed[i : i + step]) for i in range(0, len(timed), step)]
    seconds = (time.perf_counter() - start) / len(timed)
    columns = _concatenate(parts, encoder).shape[1]
    return EncodingCost(columns, seconds * (n - cached), len(timed), cached)


def _cached(examples: Any, key: str | None, encoder: Encoder) -> tuple[int, int]:
    """How many examples have features in the cache, and the columns of these."""
    if key is None or cache_folder() is None:
        return 0, 0
    first, inverse = _distinct(examples)
    n = len(first)
    size = CHUNK_ROWS if encoder.batch else n
    folder = _folder(key, size)
    columns: int | None = None
    there = np.zeros(n, bool)
    for start in range(0, n, size) if folder is not None else ():
        stop = min(start + size, n)
        part = _load(_chunk(folder, start), stop - start, columns)
        if part is not None:
            columns = part.shape[1]
            there[start:stop] = True
    return int(there[inverse].sum()), columns or 0


def remember(hint: str, examples: Any, key: str | None, encoder: Encoder, columns: int) -> None:
    """Write down which features in the cache belong to a source that is known by a hint.

    The key of features follows from all examples. A hint, such as the sizes and times of files, is
    known before they are read, and is used for estimates only.
    """
    size = CHUNK_ROWS if encoder.batch else len(_distinct(examples)[0])
    folder, file = _folder(key, size), _hint_file(hint)
    if folder is None or file is None or not folder.is_dir():
        return
    chunks = len(list(folder.glob("rows-*.features")))
    text = f"{folder.name} {chunks} {len(examples)} {columns}\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, lambda opened: opened.write(text.encode()))
    except (OSError, ResultError):  # an estimate is then made as if nothing were in the cache
        return


def _remembered(hint: str | None, n: int) -> tuple[int, int]:
    """How many of n examples have features in the cache, all or none, and the columns of these."""
    file = None if hint is None else _hint_file(hint)
    if file is None or not file.is_file():
        return 0, 0
    try:
        name, chunks, examples, columns = file.read_text().split()
        stored = len(list((file.parent.parent / name).glob("rows-*.features")))
        if stored == int(chunks) and 0 < int(examples) <= n:  # some may be left out
            return n, int(columns)
    except (OSError, ValueError):  # damaged
        pass
    return 0, 0


def _hint_file(hint: str) -> Path | None:
    cache = cache_folder()
    if cache is None:
        return None
    return cache / "features" / "sources" / hashlib.sha256(hint.encode()).hexdigest()[:32]


def _chunk(folder: Path | None, start: int) -> Path | None:
    """The file of the chunk that begins with this row."""
    return None if folder is None else folder / f"rows-{start:09}.features"


def _distinct(examples: Any) -> tuple[Index, Index]:
    """Positions of distinct examples, and the index among these of every example.

    Equal examples get equal features: in different batches they would differ in the last digits.
    """
    seen: dict[Any, int] = {}
    inverse = np.empty(len(examples), np.intp)
    first: list[int] = []
    for i, example in enumerate(examples):
        key = (
            example
            if isinstance(example, str)
            else hashlib.sha256(np.asarray(example).tobytes()).digest()
        )
        position = seen.setdefault(key, len(first))
        if position == len(first):
            first.append(i)
        inverse[i] = position
    return np.array(first, np.intp), inverse


def _folder(key: str | None, size: int) -> Path | None:
    """The folder of the cached features; None if they are not cached."""
    cache = cache_folder()
    if cache is None or key is None:
        return None
    return cache / "features" / hashlib.sha256(f"{key} {size}".encode()).hexdigest()[:32]


def check_scaling(scaling: str) -> None:
    """Raise `OptionError` for a scaling that does not exist."""
    if scaling not in SCALINGS:
        raise OptionError(f"scaling must be one of {', '.join(SCALINGS)}; got {scaling!r}.")


def scaled(features: Array, how: str) -> Array:
    """Features with mean 0; also of deviation 1; or uncorrelated and of deviation 1."""
    if how == "none":
        return features
    values = features.astype(np.float64)
    values -= values.mean(axis=0)
    if how == "standardise":
        deviation = values.std(axis=0)
        values = values[:, deviation > 0] / deviation[deviation > 0]
    if how == "whiten":
        if len(values) <= values.shape[1]:
            raise OptionError(
                f"The scaling whiten needs more examples than numbers: {len(values):,} examples "
                f"have {values.shape[1]:,} numbers each, and would all become equally far apart."
            )
        U, s, _ = np.linalg.svd(values, full_matrices=False)
        nonzero = s > s[0] * max(values.shape) * np.finfo(np.float64).eps
        values = U[:, nonzero] * np.sqrt(len(values))
    if not values.shape[1] or not values.any():
        raise DataError("The features are the same for all examples.")
    return values


def _concatenate(parts: list[Array], encoder: Encoder) -> Array:
    for part in parts:
        _require_columns(part, parts[0].shape[1], encoder)
    return np.concatenate(parts)


def _require_columns(part: Array, columns: int, encoder: Encoder) -> None:
    if part.shape[1] != columns:
        raise DataError(f"{encoder.name} gives rows of different lengths.")


def _load(file: Path | None, rows: int, columns: int | None) -> Array | None:
    """Features of an earlier run; None if they are damaged or of another shape."""
    if file is None or not file.is_file():
        return None
    try:
        content = unsealed(file.read_bytes(), *_place(file))
        features = None if content is None else np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # damaged files raise nearly anything; they are computed again
        return None
    if (
        not isinstance(features, np.ndarray)
        or features.ndim != 2
        or features.dtype.kind not in "buif"
    ):
        return None
    expected = rows, features.shape[1] if columns is None else columns
    return features if features.shape == expected else None


def _place(file: Path) -> tuple[str, str]:
    """The place that a chunk is sealed for: the names of its folder and its file."""
    return file.parent.name, file.name


def _save(file: Path | None, part: Array) -> None:
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        np.save(content, part, allow_pickle=False)
        sealed_content = sealed(content.getvalue(), *_place(file))
        replace_file(file, lambda opened: opened.write(sealed_content))
    except (OSError, ResultError) as error:
        warnings.warn(
            f"Features cannot be kept in {file.parent}, so an interrupted run will start again: "
            f"{error} Set CGSCORE_CACHE to a folder that can be written to, or to off.",
            RuntimeWarning,
            stacklevel=2,
        )
