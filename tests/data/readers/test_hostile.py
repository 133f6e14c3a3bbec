"""Files that lie, and files with errors in them: one clear message, little memory, little time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.data.readers import hostile_files, mutated_files
from tests.forked import Forked
from tests.little_memory import answers_of


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each hostile file, read with little memory in a process of its own."""
    return answers_of(hostile_files, tmp_path_factory.mktemp("hostile"))


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


def fuzz(name: str, count: int, seed: int, folder: Path) -> int:
    """How many of `count` damaged files were refused, in a process of its own."""
    process = Forked(mutated_files.main, name, count, seed, folder)
    assert process.wait() == 0, (folder / "log").read_text()[-3000:]
    return int((folder / "rejected").read_text())


@pytest.mark.needs("datasets")
@pytest.mark.parametrize("name", FUZZED)
def test_mutated_files(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 100, 0, tmp_path) > 5  # some mutations must have been noticed


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZED)
def test_many_mutated_files(name: str, tmp_path: Path) -> None:
    assert fuzz(name, 2000, 1, tmp_path) > 100
