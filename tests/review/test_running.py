"""A review beside a notebook."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest


def test_a_review_beside_a_notebook(
    photos: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, scores, _ = photos
    monkeypatch.chdir(tmp_path)
    running = scores.review(browser=False, reviewer="Ada")
    try:
        assert (tmp_path / "photos.review").exists()
        link = re.search(r'href="([^"]+)"', running._repr_html_())
        assert link is not None
        with urllib.request.urlopen(link[1]) as answer:
            assert "cgscore-tab" in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):  # once
            urllib.request.urlopen(link[1])
        row = running.review.queue()[0]
        running.review.decide(row["at"], "accept", row["to"], None)
        assert running.labels()["changed"].sum() == 1
        assert running.changes()["reviewer"].tolist() == ["Ada"]
        assert str(tmp_path) not in repr(running)
    finally:
        running.stop()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(running.address())
