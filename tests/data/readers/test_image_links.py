"""New folders of images, on systems that name files and make links differently."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cgscore
from cgscore.data.readers import image_links
from cgscore.errors import OptionError
from cgscore.execution import file_names


@pytest.fixture
def photos(tmp_path: Path) -> Any:
    """Four images; the two of a class have names that differ in case between classes."""
    for i, name in enumerate(("cat/A.png", "cat/b.png", "dog/a.png", "dog/c.png")):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((4, 4), 40 * i, np.uint8)).save(path)
    return cgscore.read(tmp_path / "photos", encoder="pixels")


def test_no_file_is_overwritten_where_case_does_not_count(
    photos: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes ``a.png`` for ``A.png`` says that it is there already."""
    exists = os.path.lexists

    def exists_in_any_case(path: Path) -> bool:
        names = os.listdir(path.parent) if path.parent.is_dir() else []
        return exists(path) or path.name.lower() in map(str.lower, names)

    monkeypatch.setattr("os.path.lexists", exists_in_any_case)
    new = tmp_path / "new"
    count = image_links.new_folder(photos, [0, 1, 2, 3], ["pet"] * 4, new, copy=True)
    assert count == 4
    assert sorted(os.listdir(new / "pet")) == ["A.png", "a-2.png", "b.png", "c.png"]


def test_windows_without_links_says_what_to_do(
    photos: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr("os.symlink", refuse)
    monkeypatch.setattr(image_links, "WINDOWS", True)
    with pytest.raises(OptionError, match=r"does not let this user make links .* copy=True"):
        image_links.new_folder(photos, [0], ["pet"], tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert image_links.new_folder(photos, [0], ["pet"], tmp_path / "new", copy=True) == 1


def test_a_class_that_windows_cannot_name(
    photos: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_names, "WINDOWS", True)
    with pytest.raises(OptionError, match="'nul' cannot be the name of a folder"):
        image_links.new_folder(photos, [0], ["nul"], tmp_path / "new", copy=True)
