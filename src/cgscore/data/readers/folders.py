"""A folder with one folder of images per class.

``photos/cat/1.jpg`` is an example of class ``cat`` named ``cat/1.jpg``. Folders may be nested: the
first folder names the class. If all folders are called ``train``, ``test`` or ``val``, they are
splits, and one is read.

Hidden files and folders, files that systems leave behind, and files that are no images are left
out. A note counts them, and names the first; another one names class folders without images.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data.columns import list_names
from cgscore.data.dataset import Dataset
from cgscore.data.image_decoder import SUFFIXES, picture
from cgscore.data.images import decode_all, notes_and_skipped
from cgscore.data.readers.bounded import check_link, check_regular, leads_inside
from cgscore.data.readers.options import ReadOptions
from cgscore.data.readers.sample import Sample, is_large, rows_of_sample, spread
from cgscore.errors import CGScoreError, LabelError, SourceError
from cgscore.spelling import spelled

SPLITS = ("train", "test", "val", "valid", "validation")
_MAX_FILES = 20_000_000  # listed before giving up
MAX_FOLDER_DEPTH = 64  # folders within folders
_SYSTEM_NAMES = {"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx", "@eadir"}
_SHOWN = 5  # names in a note


def read_folder(folder: Path, options: ReadOptions) -> Dataset:
    """The images below a folder, labelled by the folder they are in."""
    paths, names, notes = _listed(folder, options)
    return replace(_decoded(paths, names, notes, options), listing=_digest(paths, names))


def sample_folder(folder: Path, options: ReadOptions) -> Sample | None:
    """Some of the images below a folder; None if they are few."""
    paths, names, notes = _listed(folder, options)
    try:
        first = _decoded(paths[:1], names[:1], notes, options)
    except CGScoreError:
        return None  # reading all will say what is wrong, or leave it out
    n, numbers = len(paths), int(first.X.size)
    if not is_large(n * numbers):
        return None
    stored = [path.stat().st_size for path in paths[:: max(1, n // 256)]]
    positions = spread(n, rows_of_sample(numbers, sum(stored) // len(stored)))
    dataset = _decoded([paths[i] for i in positions], [names[i] for i in positions], notes, options)
    if dataset.skipped:
        there = set(dataset.ids.tolist())
        positions = np.array([i for i in positions if names[i] in there], dtype=np.intp)
    counts = None if options.labels is not None else Counter(name.split("/")[0] for name in names)
    return Sample(replace(dataset, listing=_digest(paths, names)), positions, n, counts)


def _digest(paths: list[Path], names: list[str]) -> str:
    """A text that changes with the names, sizes and times of files."""
    digest = hashlib.sha256()
    for path, name in zip(paths, names, strict=True):
        status = path.stat()
        digest.update(f"{name}\0{status.st_size} {status.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _listed(folder: Path, options: ReadOptions) -> tuple[list[Path], list[str], tuple[str, ...]]:
    """The images below a folder, their names, and what was chosen."""
    root, notes = _split(folder, options.split)
    paths, others = _images(root)
    if not paths:
        found = f" Its files: {_listing(others, root)}." if others else ""
        raise SourceError(
            f"{root} holds no images ({', '.join(SUFFIXES)}) in folders, one folder per class."
            f"{found}"
        )
    notes += _left_out(root, others)
    names = [_shown_name(path, root) for path in paths]
    loose = [name for name in names if "/" not in name]
    if loose and options.labels is None:
        raise LabelError(
            f"{root / loose[0]} is in no class folder, like {len(loose) - 1:,} other images. "
            f"Expected one folder per class, or {spelled(labels='FILE')}"
        )
    else:
        notes += _without_images(root, {name.split("/")[0] for name in names})
    return paths, names, notes


def _shown_name(path: Path, root: Path) -> str:
    """The name of a file or folder below the root; what is not Unicode is shown with escapes."""
    return os.fsencode(path.relative_to(root).as_posix()).decode("utf-8", "backslashreplace")


def _left_out(root: Path, others: list[Path]) -> tuple[str, ...]:
    """Notes about hidden files and files that are no images."""
    hidden = [path for path in others if _is_hidden(path.name)]
    foreign = [path for path in others if not _is_hidden(path.name)]
    notes = []
    if hidden:
        notes.append(f"hidden or system files left out: {_listing(hidden, root)}")
    if foreign:
        notes.append(f"files other than images left out: {_listing(foreign, root)}")
    return tuple(notes)


def _without_images(root: Path, classes: set[str]) -> tuple[str, ...]:
    """A note about class folders that have no image, if there are any."""
    folders = [path for path in root.iterdir() if path.is_dir() and not _is_hidden(path.name)]
    empty = sorted(path for path in folders if _shown_name(path, root) not in classes)
    return (f"class folders without images: {_listing(empty, root)}",) if empty else ()


def _listing(paths: list[Path], root: Path) -> str:
    """How many, and the names of the first."""
    names = list_names((_shown_name(path, root) for path in paths), _SHOWN)
    return f"{len(paths):,} ({names})"


def _is_hidden(name: str) -> bool:
    """Whether a file or folder is hidden, or one that systems leave behind."""
    return name.startswith(".") or name.lower() in _SYSTEM_NAMES


def _decoded(
    paths: list[Path], names: list[str], notes: tuple[str, ...], options: ReadOptions
) -> Dataset:
    size = 256

    def chunks() -> Any:
        return (paths[i : i + size] for i in range(0, len(paths), size))

    decoded = decode_all(
        chunks,
        lambda i: str(paths[i]),
        len(paths),
        options,
    )
    positions = decoded.positions
    left_out = notes_and_skipped(decoded, lambda i: names[i])
    y = (
        None
        if options.labels is not None
        else np.array([names[i].split("/")[0] for i in positions])
    )
    return Dataset(
        decoded.pixels,
        None if y is None else y.astype(object),
        np.array([names[i] for i in positions], dtype=object),
        image=True,
        pictures=lambda i: picture(paths[positions[i]]),
        files=[paths[i] for i in positions],
        notes=(*notes, *left_out["notes"]),
        skipped=left_out["skipped"],
        photographs=left_out["photographs"],
    )


def _split(folder: Path, split: str | None) -> tuple[Path, tuple[str, ...]]:
    inside = {
        entry.name for entry in folder.iterdir() if entry.is_dir() and not _is_hidden(entry.name)
    }
    if split is not None:
        if split not in inside:
            there = ", ".join(sorted(inside)[:12])
            raise SourceError(f"{folder} has no split {split!r}. Its folders are {there}.")
        check_link(folder / split, folder)
        return folder / split, ()
    splits = [name for name in SPLITS if name in inside]
    if splits and inside <= set(SPLITS):
        first, *others = splits
        note = f"read the split {first}" + (
            f"; there is also {', '.join(others)}" if others else ""
        )
        check_link(folder / first, folder)
        return folder / first, (note,)
    return folder, ()


def _images(root: Path) -> tuple[list[Path], list[Path]]:
    """Image files below a folder, in the order of their names, and what is to be left out.

    No link leads out of the folder. Hidden files are not opened, wherever they lead.
    """
    resolved = root.resolve()
    paths: list[Path] = []
    others: list[Path] = []
    for seen, path in enumerate(_entries(root)):
        if seen > _MAX_FILES:
            raise SourceError(f"{root} holds more than {_MAX_FILES:,} files.")
        if _is_hidden(path.name):
            others.append(path)
            continue
        if path.is_symlink() and not leads_inside(path, resolved):
            raise SourceError(f"{path} is a link that leads out of {root}. Copy the file.")
        if path.suffix.lower() in SUFFIXES and not path.is_dir():
            check_regular(path)
            paths.append(path)
        else:
            others.append(path)
    return paths, others


def _entries(root: Path) -> Iterator[Path]:
    """Everything below a folder; the files of a folder before those of folders in it.

    Of folders only hidden ones, which are not entered.
    """
    pending = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        if depth > MAX_FOLDER_DEPTH:
            raise SourceError(f"{root} has folders nested more than {MAX_FOLDER_DEPTH} deep.")
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        deeper = [
            entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not _is_hidden(entry.name)
        ]
        inside = set(deeper)
        yield from (folder / entry.name for entry in entries if entry.name not in inside)
        pending += [(folder / name, depth + 1) for name in reversed(deeper)]
