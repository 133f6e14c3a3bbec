"""Files that lie, and files with errors in them: one clear message, little memory, little time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.data.readers import hostile_files

MAKERS = Path(__file__).with_name("test_readers.py")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each hostile file, read with little memory in a process of its own."""
    if sys.platform != "linux":
        pytest.skip("pipes, devices and limits of Linux")
    done = subprocess.run(
        [sys.executable, hostile_files.__file__, str(tmp_path_factory.mktemp("hostile"))],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", hostile_files.CASES)
def test_small_files_cost_little(name: str, answers: dict[str, dict[str, Any]]) -> None:
    answer, words = answers[name], hostile_files.CASES[name].words
    assert "traceback" not in answer, answer
    if words:
        assert re.search(words, answer["error"]), answer
    else:
        assert answer["data"], answer
    assert answer["bytes"] < 500_000_000


FUZZED = [
    "numpy_archive",
    "numpy_array",
    "csv",
    "parquet",
    "feather",
    "json_lines",
    "json_list",
    "workbook",
    "arff",
    "parquet_of_images",
    "saved_dataset",
    "idx_pair",
    "idx_file",
    "cifar10",
    "cifar100",
    "image_folder",
]


FUZZ = """
import importlib.util, random, resource, shutil, signal, sys, warnings
from pathlib import Path

spec = importlib.util.spec_from_file_location("makers", sys.argv[1])
makers = importlib.util.module_from_spec(spec)
sys.modules["makers"] = makers
spec.loader.exec_module(makers)
import cgscore, pyarrow.parquet, pyarrow.csv, PIL.Image
from cgscore.execution.machine import peak_memory

name, count, seed, folder = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])
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
dice, rejected, bound = random.Random(seed), 0, peak_memory() + 400_000_000

def mutate(content):
    content = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 8, 64])):
        kind = dice.randrange(6)
        if not content:
            break
        at = dice.randrange(min(len(content), dice.choice([16, 64, 512, len(content)])))
        if kind == 0:
            content[at] = dice.randrange(256)
        elif kind == 1:
            large = [b"\\xff" * 4, b"\\x7f\\xff\\xff\\xff", b"\\0" * 4, b"9999"]
            content[at:at + 4] = dice.choice(large)
        elif kind == 2:
            del content[at:at + dice.randrange(1, 40)]
        elif kind == 3:
            content[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 40)))
        elif kind == 4:
            del content[at:]
        else:
            other = dice.randrange(len(content))
            content[at:at + 16] = content[other:other + 16]
    return bytes(content)

for turn in range(count):
    dirty = folder / "dirty"
    shutil.copytree(clean, dirty)
    target = dirty / dice.choice(files)
    target.write_bytes(mutate(target.read_bytes()))
    given = {
        key: dirty / value.relative_to(clean) if isinstance(value, Path) else value
        for key, value in options.items()
    }
    signal.alarm(20)  # a hang ends the process
    try:
        cgscore.read(dirty / where, **given)
    except cgscore.CGScoreError as error:
        rejected += 1
        assert len(str(error)) < 3000, str(error)[:3000]
    except BaseException:
        shutil.copytree(dirty, folder / f"failed-{turn}")
        raise
    signal.alarm(0)
    assert peak_memory() < bound, f"turn {turn} took {peak_memory() - bound + 4e8:,.0f} bytes"
    shutil.rmtree(dirty)
print(rejected)
"""


def fuzz(name: str, count: int, seed: int, folder: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(MAKERS), name, str(count), str(seed), str(folder)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


@pytest.mark.needs("datasets")
@pytest.mark.parametrize("name", FUZZED)
def test_mutated_files(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 100, 0, tmp_path) > 5  # some mutations must have been noticed


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZED)
def test_many_mutated_files(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 2000, 1, tmp_path) > 100
