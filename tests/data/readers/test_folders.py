"""Folders of images: classes, links and names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image
from tests.data.image_folders import COLOUR, all_of, folder

import cgscore
from cgscore.errors import LabelError, SourceError


def test_class_folders_are_expected(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no images"):
        cgscore.read(tmp_path)
    for i, one in enumerate(all_of(COLOUR)):
        one.save(tmp_path / f"{i}.png")
    with pytest.raises(LabelError, match=r"0\.png is in no class folder, like 7 other"):
        cgscore.read(tmp_path)
    assert cgscore.read(tmp_path, labels=list("abababab")).ids[3] == "3.png"
    with pytest.raises(SourceError, match="no split 'test'"):
        cgscore.read(tmp_path, split="test")


def test_links_lead_nowhere_else(tmp_path: Path) -> None:
    root = folder(tmp_path / "root", all_of(COLOUR))
    secret = tmp_path / "secret.png"
    Image.fromarray(COLOUR[0]).save(secret)
    inside = root / "a" / "9.png"
    inside.symlink_to(root / "b" / "1.png")
    assert len(cgscore.read(root)) == 9
    for target in (secret, tmp_path / "nothing.png", root / "a" / "10.png"):
        link = root / "a" / "10.png"
        link.symlink_to(target)
        with pytest.raises(SourceError, match=r"10\.png is a link that leads out"):
            cgscore.read(root)
        link.unlink()
    (root / "c").symlink_to(tmp_path)
    with pytest.raises(SourceError, match="c is a link that leads out"):
        cgscore.read(root)


def test_names_may_hold_anything(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    odd = ["new\nline.png", "\x1b[31m.png", "<script>.png", "ü‮.png"]
    for name in odd:
        Image.fromarray(COLOUR[0]).save(root / "a" / name)
    os.rename(root / "a" / "0.png", os.fsencode(root / "a") + b"/\xff.png")
    data = cgscore.read(root)
    assert {f"a/{name}" for name in odd} | {"a/\\xff.png"} <= set(data.ids)
    cgscore.score(data, ridge=0.1).save(tmp_path / "s.parquet")
    assert set(cgscore.load(tmp_path / "s.parquet").table["id"]) == set(data.ids)


def test_what_systems_leave_behind_is_left_out(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    clean = cgscore.read(root)
    for name in (".DS_Store", "a/.DS_Store", "a/._0.png", "b/Thumbs.db", "b/desktop.ini"):
        (root / name).write_bytes(b"\0\5\x16\7")
    (root / "__MACOSX" / "a").mkdir(parents=True)
    (root / "__MACOSX" / "a" / "0.png").write_bytes(b"")
    (root / ".git").mkdir()
    (root / ".git" / "x.png").symlink_to("/etc/passwd")
    (root / "lynx").mkdir()
    (root / "a" / "read me.txt").write_text("photographs of 2019")
    data = cgscore.read(root)
    assert data.fingerprint == clean.fingerprint
    assert clean.notes == ()
    assert data.notes == (
        "hidden or system files left out: 7 (.DS_Store, .git, __MACOSX, a/.DS_Store, a/._0.png "
        "and 2 more)",
        "files other than images left out: 1 (a/read me.txt)",
        "class folders without images: 1 (lynx)",
    )
    for path in root.rglob("*.png"):
        path.unlink()
    with pytest.raises(SourceError, match=r"holds no images .*\. Its files: 7 \(\.DS_Store"):
        cgscore.read(root)


def test_hidden_folders_do_not_hide_splits(tmp_path: Path) -> None:
    folder(tmp_path / "train", all_of(COLOUR))
    (tmp_path / ".cache").mkdir()
    data = cgscore.read(tmp_path)
    assert data.notes == ("read the split train",)
    assert set(data.y.tolist()) == {"a", "b"}  # type: ignore[union-attr]


def test_the_first_frame_of_a_gif(tmp_path: Path) -> None:
    root = folder(tmp_path, all_of(COLOUR))
    first, second = (Image.new("RGB", (10, 12), colour) for colour in ("red", "blue"))
    first.save(root / "a" / "moving.gif", save_all=True, append_images=[second], duration=50)
    data = cgscore.read(root)
    position = data.ids.tolist().index("a/moving.gif")
    assert (data.X[position] == [255, 0, 0]).all()
    assert data.picture(position).convert("RGB").getpixel((3, 3)) == (255, 0, 0)
    assert data.notes == ()
