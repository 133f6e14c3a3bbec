"""A new folder of images, sorted into their corrected classes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cgscore.errors import OptionError

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset


def new_folder(dataset: Dataset, labels: pd.DataFrame, folder: Path, *, copy: bool = False) -> int:
    """Links to (or copies of) all images, one folder per corrected class; how many there are.

    Raises
    ------
    OptionError
        The data are no folder of images, the new folder exists, or a class cannot name a folder.
    """
    root = Path(dataset.source)
    if not root.is_dir() or dataset.files is None:
        raise OptionError(f"{dataset.source} is not a folder of images.")
    if folder.exists() or folder.is_symlink():
        raise OptionError(f"{folder} exists already. A new folder is made, nothing is overwritten.")
    if folder.resolve().is_relative_to(root.resolve()):
        raise OptionError(f"{folder} is inside {root}: it would be read as part of the data.")
    pairs = list(zip(dataset.files, labels["label"].astype(str), strict=True))
    for _, label in pairs:
        if label in ("", ".", "..") or "/" in label or "\\" in label or "\0" in label:
            raise OptionError(f"{label!r} cannot be the name of a folder.")
    taken: set[Path] = set()
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        _fill(beside, pairs, taken, copy)
        os.replace(beside, folder)
    except OSError as error:
        raise OptionError(f"{folder} cannot be made: {error.strerror}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return len(pairs)


def _fill(folder: Path, pairs: list[tuple[Path, str]], taken: set[Path], copy: bool) -> None:
    for path, label in pairs:
        target = folder / label / path.name
        number = 1
        while target in taken:  # the same name from two classes
            number += 1
            target = folder / label / f"{path.stem}-{number}{path.suffix}"
        taken.add(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        if copy:
            shutil.copyfile(path, target)
        else:
            os.symlink(path.resolve(), target)
