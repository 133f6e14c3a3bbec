"""Records: what is read is what was written, and incomplete files are recognised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import StorageError

pytest.importorskip("torch")

from cgscore.training.loop.evaluation import Evaluation
from cgscore.training.loop.records import Recorder, Records

CODES = np.array([0, 2, 1, 1, 0, 2, 2, 1, 0, 1, 1])
CLASSES = np.array(["cat", "dog", "eel"])


def epochs(count: int) -> list[Evaluation]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        probability = rng.dirichlet([1, 1, 1], len(CODES)).astype(np.float32)
        loss = rng.standard_exponential(len(CODES)).astype(np.float32)
        found.append(Evaluation(loss, rng.random(len(CODES)) < 0.5, probability))
    return found


def written(
    path: Path | None, count: int, *, all_classes: bool = True, finished: int = 0
) -> Records:
    recorder = Recorder(path, CODES, CLASSES, all_classes=all_classes, finished=finished)
    for found in epochs(count)[finished:]:
        recorder.append(found)
    records = recorder.records()
    recorder.close()
    return records


@pytest.mark.parametrize("in_memory", [False, True])
def test_what_is_read_is_what_was_written(tmp_path: Path, in_memory: bool) -> None:
    for all_classes in (True, False):
        records = written(None if in_memory else tmp_path / "records", 3, all_classes=all_classes)
        true = epochs(3)
        assert len(records) == 3
        assert records.classes == ["cat", "dog", "eel"]
        assert np.array_equal(records.loss, [found.loss for found in true])
        assert records.loss.dtype == np.float32
        assert np.array_equal(records.correct, [found.correct for found in true])
        assert records.correct.dtype == bool
        probabilities = np.array([found.probability for found in true]).astype(np.float16)
        if all_classes:
            assert np.array_equal(records.probability, probabilities)
        else:
            given = probabilities[:, np.arange(len(CODES)), CODES]
            assert np.array_equal(records.probability, given)
        assert records.probability.dtype == np.float16


def test_an_epoch_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "records"
    assert len(written(path, 0)) == 0
    head = path.stat().st_size
    written(path, 2)
    whole = path.read_bytes()
    frame = (len(whole) - head) // 2
    assert len(whole) == head + 2 * frame
    assert frame == 8 + len(CODES) * (4 + 3 * 2) + 2
    loss = epochs(2)[0].loss
    for length in range(head, len(whole)):  # a kill after any number of bytes
        path.write_bytes(whole[:length])
        records = Records(path)
        assert len(records) == (length - head) // frame
        assert np.array_equal(records.loss, np.array([loss])[: len(records)])
    for place in range(head + frame, len(whole)):  # bytes that never reached the disk
        torn = bytearray(whole)
        torn[place] ^= 1
        path.write_bytes(torn)
        assert len(Records(path)) == 1


def test_writing_goes_on_after_what_counts(tmp_path: Path) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    written(once, 5)
    written(twice, 3)
    with twice.open("ab") as file:
        file.write(b"an epoch that was cut short")
    assert len(written(twice, 2, finished=2)) == 2  # the third was not yet in the state
    assert len(written(twice, 5, finished=2)) == 5
    assert twice.read_bytes() == once.read_bytes()
    with pytest.raises(StorageError, match="fewer than the 6 epochs"):
        written(twice, 6, finished=6)
    with pytest.raises(StorageError, match="other examples"):
        Recorder(twice, CODES[:-1], CLASSES, all_classes=True, finished=2)
    with pytest.raises(StorageError, match="in memory cannot be continued"):
        Recorder(None, CODES, CLASSES, all_classes=True, finished=2)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records"
    contents: list[Any] = [
        b"",
        b"text\n",
        b"[1]\n",
        b'{"n": 3}\n',
        b'{"cgscore records": 1',
        b"\0" * 99,
    ]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(StorageError, match="records"):
            Records(path)
    with pytest.raises(StorageError, match="cannot be read"):
        Records(tmp_path / "nothing")
