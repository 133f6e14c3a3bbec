"""Damaged files of one format: read or refused by a short message, with little memory and time."""

from __future__ import annotations

import random
import shutil
import signal
import traceback
import warnings
from pathlib import Path
from typing import Any

import cgscore
from cgscore.execution.machine import peak_memory

MEMORY = 400_000_000  # bytes that reading a damaged file may take
SECONDS = 20  # after which a hang ends the process
_LARGE = (b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4, b"9999")


def main(name: str, count: int, seed: int, folder: Path) -> None:
    """Write how many files were refused to ``rejected``, or what went wrong to ``log``."""
    try:
        (folder / "rejected").write_text(str(_rejected(name, count, seed, folder)))
    except BaseException:
        (folder / "log").write_text(traceback.format_exc())
        raise


def _rejected(name: str, count: int, seed: int, folder: Path) -> int:
    from tests.data.readers import test_readers as makers

    clean = folder / "clean"
    clean.mkdir()
    made = getattr(makers, name)(clean)
    options = made.options or {}
    if name in ("parquet_of_images", "saved_dataset", "image_folder"):
        options = {**options, "encoder": "pixels"}  # a damaged size would make photographs of them
    where = Path(made.source).relative_to(clean)
    files = sorted(path.relative_to(clean) for path in clean.rglob("*") if path.is_file())
    made.read()  # load every library
    warnings.simplefilter("ignore")
    dice, bound = random.Random(seed), peak_memory() + MEMORY
    messages: list[str] = []
    for turn in range(count):
        dirty = folder / "dirty"
        shutil.copytree(clean, dirty)
        target = dirty / dice.choice(files)
        target.write_bytes(_mutated(target.read_bytes(), dice))
        given: dict[str, Any] = {
            key: dirty / value.relative_to(clean) if isinstance(value, Path) else value
            for key, value in options.items()
        }
        signal.alarm(SECONDS)
        try:
            cgscore.read(dirty / where, **given)
        except cgscore.CGScoreError as error:
            messages.append(str(error))
        except BaseException:
            shutil.copytree(dirty, folder / f"failed-{turn}")
            raise
        signal.alarm(0)
        assert peak_memory() < bound, f"turn {turn}: {peak_memory() - bound + MEMORY:,} bytes"
        shutil.rmtree(dirty)
    assert all(len(message) < 3000 for message in messages), max(messages, key=len)[:3000]
    return len(messages)


def _mutated(raw: bytes, dice: random.Random) -> bytes:
    content = bytearray(raw)
    for _ in range(dice.choice([1, 1, 2, 8, 64])):
        kind = dice.randrange(6)
        if not content:
            break
        at = dice.randrange(min(len(content), dice.choice([16, 64, 512, len(content)])))
        if kind == 0:
            content[at] = dice.randrange(256)
        elif kind == 1:
            content[at : at + 4] = dice.choice(_LARGE)
        elif kind == 2:
            del content[at : at + dice.randrange(1, 40)]
        elif kind == 3:
            content[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 40)))
        elif kind == 4:
            del content[at:]
        else:
            other = dice.randrange(len(content))
            content[at : at + 16] = content[other : other + 16]
    return bytes(content)
