"""``cgscore demo``: flipped labels are found."""

from __future__ import annotations

import json
from pathlib import Path

import cgscore
from tests.command import invoke


def test_demo_finds_the_flipped_labels(tmp_path: Path) -> None:
    done = invoke("demo", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert document["flipped"] == 180
    assert document["recall"] > 0.95
    assert document["precision"] > 0.95
    assert document["suggestions_right"] > 0.95 * document["found"]
    saved = cgscore.load(tmp_path / "cgscore-demo" / "scores.parquet")
    assert len(saved) == 1797
    text = invoke("demo", folder=tmp_path).stdout
    assert "precision" in text
    assert "suggested" in text
    lines = [line for line in text.splitlines() if not line.startswith("Open:")]
    assert max(map(len, lines)) <= 80
    page = tmp_path / "cgscore-demo" / "report.html"
    assert f"Open:     {page.as_uri()}" in text
    assert "labels look wrong" in page.read_text()
