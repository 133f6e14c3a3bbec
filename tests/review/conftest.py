"""A result that is reviewed, and servers of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.review.server import Server, serving


@pytest.fixture
def result(photos: Any, tmp_path: Path) -> Path:
    """The result alone in a folder, without decisions."""
    root, _, _ = photos
    copy = tmp_path / "s.parquet"
    copy.write_bytes((root / "s.parquet").read_bytes())
    return copy


@pytest.fixture
def server(result: Path) -> Iterator[Server]:
    with serving(result) as started:
        yield started


@pytest.fixture(scope="session")
def shared(photos: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for requests that change nothing."""
    root, _, _ = photos
    copy = tmp_path_factory.mktemp("shared") / "s.parquet"
    copy.write_bytes((root / "s.parquet").read_bytes())
    with serving(copy) as started:
        yield started
