"""A new folder of images in folders of their classes: links to the originals, or copies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from cgscore.data.dataset import Dataset
from cgscore.errors import OptionError
from cgscore.execution import files
from cgscore.execution.file_names import WINDOWS, is_file_name
from cgscore.spelling import spelled
from cgscore.typing import Index


def write_images(dataset: Dataset, positions: Index, to: Path, copy: bool) -> str:
    """Write the images at these positions to a new folder, and say how many."""
    if dataset.y is None:
        raise OptionError(f"{dataset.source} has no labels to name folders by.")
    labels = [dataset.y[i] for i in positions]
    count = new_folder(dataset, positions.tolist(), labels, to, copy=copy)
    return f"{count:,} {'copies' if copy else 'links (to read them with cgscore: --copy)'}"


def new_folder(
    dataset: Dataset,
    positions: Sequence[int],
    labels: Sequence[object],
    folder: Path,
    *,
    copy: bool = False,
) -> int:
    """Link to (or copy) the images at these positions, one folder per label; return their number.

    Raises
    ------
    OptionError
        The data are not a folder of images, the new folder exists, or a class cannot name a folder.
    """
    root = Path(dataset.source)
    if not root.is_dir() or dataset.files is None:
        raise OptionError(f"{dataset.source} is not a folder of images.")
    check_new_folder(folder, root)
    pairs = [
        (dataset.files[i], Path(_folder_name(label), *_inside(str(dataset.ids[i]))))
        for i, label in zip(positions, labels, strict=True)
    ]
    with files.new_folder(folder) as beside:
        _fill(beside, pairs, copy)
    return len(pairs)


def _folder_name(label: object) -> str:
    name = str(label)
    if not is_file_name(name):
        raise OptionError(f"{name!r} cannot be the name of a folder.")
    return name


def _inside(name: str) -> tuple[str, ...]:
    """The path of an image below the folder of its class: ``a/1.png`` of ``cat/a/1.png``."""
    parts = PurePosixPath(name).parts
    bad = [part for part in parts if part in ("..", "/") or "\0" in part]
    if not parts or bad or (WINDOWS and not all(map(is_file_name, parts))):
        raise OptionError(f"{name!r} cannot be the name of an image.")
    return parts[1:] or parts


def check_new_folder(folder: Path, source: Path) -> None:
    """Raise `OptionError` for a new folder that exists, or is inside the data."""
    if folder.exists() or folder.is_symlink():
        raise OptionError(f"{folder} exists already. Choose a new name: nothing is overwritten.")
    if folder.resolve().is_relative_to(source.resolve()):
        raise OptionError(f"{folder} is inside {source}: it would be read as part of the data.")


def _fill(folder: Path, pairs: list[tuple[Path, Path]], copy: bool) -> None:
    """Create the folder with a link or copy of each file at its place in it."""
    folder.mkdir()
    targets: set[Path] = set()
    for path, place in pairs:
        target = folder / place
        number = 1
        # the same name from two classes; disks of macOS and Windows take a.png for A.png
        while target in targets or os.path.lexists(target):
            number += 1
            target = (folder / place).with_stem(f"{place.stem}-{number}")
        targets.add(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        if copy:
            shutil.copyfile(path, target)
        else:
            _link(path.resolve(), target)


def _link(path: Path, target: Path) -> None:
    """Make a link, which Windows allows to administrators and in its developer mode only."""
    try:
        os.symlink(path, target)
    except (OSError, NotImplementedError) as error:
        if not WINDOWS:
            raise
        raise OptionError(
            f"Windows does not let this user make links ({error}). Copy the images instead: "
            f"{spelled(copy=True)}"
        ) from error
