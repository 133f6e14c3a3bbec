"""Files from strangers, as corrections: one clear message, little memory, nothing imported."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.exchange.corrections import check_corrections
from cgscore.exchange.registry import tool_of
from cgscore.exchange.stamp import stamp_of
from tests.exchange import hostile_files
from tests.little_memory import answers_of


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each file, imported with little memory in a process of its own."""
    return answers_of(hostile_files, tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("name", hostile_files.CASES)
def test_one_clear_message(name: str, answers: dict[str, dict[str, Any]]) -> None:
    answer, words = answers[name], hostile_files.CASES[name].words
    assert "traceback" not in answer, answer
    if words:
        assert re.search(words, answer["error"]), answer
        assert len(answer["error"]) < 3000
    else:
        assert "labels" in answer, answer
    assert answer["bytes"] < 500_000_000


SOUND = {
    "t.csv": hostile_files.HEADER + "".join(f"{i},r{i},{'abc'[i % 3]},STAMP\n" for i in range(20)),
    "p.json": json.dumps([hostile_files.task("abc"[i % 3], i, f"r{i}") for i in range(20)]),
    "samples.json": hostile_files.samples({"corrected_label": {"label": "b"}, "tags": ["keep"]}),
    "r.json": json.dumps([hostile_files.record({"value": "a"})]),
}


@pytest.mark.parametrize("name", SOUND)
def test_mutated_files(name: str, tmp_path: Path) -> None:
    """Whatever is done to a file, it is imported or refused with one of our errors."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    frame = pd.DataFrame(X).assign(label=list("abc" * 20), id=[f"r{i}" for i in range(60)])
    scores = cgscore.score(frame, label_column="label", id_column="id", ridge=0.1)
    content = SOUND[name].replace("STAMP", stamp_of(scores)).encode()
    dice, messages = random.Random(0), []
    for _ in range(300):
        path = tmp_path / name
        path.write_bytes(mutate(content, dice))
        try:
            tool = tool_of(path)
            check_corrections(scores, tool.read(path), path, tool.captions(scores))
        except cgscore.CGScoreError as error:
            messages.append(str(error))
    assert 30 < len(messages) < 300
    assert max(map(len, messages)) < 3000


def mutate(content: bytes, dice: random.Random) -> bytes:
    """Some bytes of a file changed, removed, added or repeated."""
    changed = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 8])):
        at = dice.randrange(len(changed))
        kind = dice.randrange(5)
        if kind == 0:
            changed[at] = dice.randrange(256)
        elif kind == 1:
            del changed[at : at + dice.randrange(1, 40)]
        elif kind == 2:
            changed[at:at] = bytes(dice.choice(b'[]{},:"0e-\\\r\n\0\xff') for _ in range(4))
        elif kind == 3:
            del changed[max(1, at) :]
        else:
            other = dice.randrange(len(changed))
            changed[at : at + 16] = changed[other : other + 16]
        changed = changed or bytearray(b"x")
    return bytes(changed)
