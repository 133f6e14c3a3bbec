"""Where the data come from: files inside Python packages, Debian packages and a folder of data.

Python packages are unpacked by ``pip install --target`` and never imported: only their files count.
Debian packages are downloaded and unpacked, not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class Missing(Exception):
    """Data that cannot be had on this machine; says why."""


@dataclass(frozen=True)
class Packages:
    """The packages in a folder.

    Attributes
    ----------
    folder : path
        Holds ``python``, where pip unpacked packages, and ``debian``.
    """

    folder: Path

    def python(self, *parts: str) -> Path:
        """A file inside a Python package."""
        path = self.folder.joinpath("python", *parts)
        if not path.exists():
            raise Missing(f"{Path(*parts)} is not in the packages of constraints/first-run.in")
        return path

    def pydataset(self, name: str) -> Path:
        """A table of the package pydataset, which holds them in an archive: ``MASS/crabs``."""
        path = self.folder / "pydataset" / f"{name}.csv"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(self.python("pydataset", "resources.tar.gz")) as archive:
                member = archive.extractfile(f"resources/rdata/csv/{name}.csv")
                assert member is not None
                path.write_bytes(member.read())
        return path

    def debian(self, package: str, *parts: str) -> Path:
        """A file or folder of a Debian package, which is downloaded if it is not there."""
        root = self.folder / "debian" / package
        if not root.exists():
            _download(package, root)
        return root.joinpath(*parts)


def shared(*parts: str) -> Path:
    """A file of the datasets whose folder the environment variable CGSCORE_DATA names."""
    folder = os.environ.get("CGSCORE_DATA")
    path = None if folder is None else Path(folder).joinpath(*parts)
    if path is None or not path.exists():
        raise Missing(f"CGSCORE_DATA is not set, or has no {Path(*parts)}")
    return path


def fortunes(folder: Path, *names: str) -> Iterator[tuple[str, str]]:
    """Category and text of each fortune in files of these names."""
    for name in names:
        content = (folder / name).read_bytes()
        try:
            whole = content.decode()
        except UnicodeDecodeError:
            whole = content.decode("latin-1")
        category = name.removesuffix(".fortunes")
        for text in whole.split("\n%\n"):
            plain = " ".join(text.replace("%", " ").split())
            if plain:
                yield category, plain


def _download(package: str, root: Path) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise Missing(f"the Debian package {package} needs apt-get and dpkg")
    archive = root.parent / f"{package}.archive"
    archive.mkdir(parents=True, exist_ok=True)
    command = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package]
    loaded = subprocess.run(command, cwd=archive, capture_output=True, text=True)
    files = list(archive.glob("*.deb"))
    if loaded.returncode or not files:
        raise Missing(f"apt-get download {package}: {loaded.stderr.strip()[-200:]}")
    partial = root.with_name(f"{package}.partial")
    subprocess.run(["dpkg", "-x", files[0], partial], check=True)
    partial.rename(root)
