"""Where the pictures of exported examples are: paths to the originals, or copies."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import quote

from cgscore.data import Dataset
from cgscore.data.readers.bounded import check_regular
from cgscore.errors import OptionError
from cgscore.exchange.tool import ExportOptions

COPIES = "images"  # folder of copies, in the exported folder


class Pictures:
    """References to the pictures of examples.

    Images that are files are referred to by their paths, relative to a root. Others, such as those
    inside a Parquet file, are written to a folder of the export, and so are all with ``copy``.

    Parameters
    ----------
    dataset : Dataset
        Images.
    folder : Path or None
        The exported folder; None if a single file is exported, which has no copies.
    options : ExportOptions
        Which paths are wanted.
    """

    def __init__(self, dataset: Dataset, folder: Path | None, options: ExportOptions) -> None:
        self._dataset, self._folder, self._options = dataset, folder, options
        self.copied = folder is not None and (options.copy or dataset.files is None)
        if options.copy and folder is None:
            raise OptionError("--copy-images needs an export that is a folder.")
        if options.absolute and self.copied:
            raise OptionError(
                "--absolute-paths is for images that are files of their own and are not copied."
            )
        root = options.image_root or Path(dataset.source)
        self.root = Path(os.path.abspath(root))
        if dataset.files is not None and not self.copied and not self.root.is_dir():
            raise OptionError(f"--image-root {root} is not a folder.")

    @property
    def available(self) -> bool:
        """Whether there is a path for every picture."""
        return self.copied or self._dataset.files is not None

    def path(self, position: int) -> str:
        """The path of a picture, with slashes; a copy is written first."""
        if self.copied:
            return self._copy(position)
        assert self._dataset.files is not None  # noqa: S101  or there are copies
        file = Path(os.path.abspath(self._dataset.files[position]))
        if self._options.absolute:
            return file.as_posix()
        try:
            return file.relative_to(self.root).as_posix()
        except ValueError as error:
            raise OptionError(
                f"{file} is not in {self.root}. Name a folder that all images are in: "
                "--image-root FOLDER"
            ) from error

    def _copy(self, position: int) -> str:
        assert self._folder is not None  # noqa: S101  as `copied` says
        (self._folder / COPIES).mkdir(exist_ok=True)
        files = self._dataset.files
        file = None if files is None else Path(files[position])
        suffix = ".png" if file is None else file.suffix.lower()
        name = f"{COPIES}/{position:07d}{suffix}"
        if file is None:
            self._dataset.picture(position).save(self._folder / name)
        else:
            check_regular(file)
            shutil.copyfile(file, self._folder / name)
        return name


def local_url(path: str) -> str:
    """A path as the address under which Label Studio serves local files."""
    return f"/data/local-files/?d={quote(path)}"
