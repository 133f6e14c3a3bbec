"""The commands and the code of the pages about other tools, from scores to corrections and back."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cgscore
from tests.command import invoke
from tests.docs.pages import DOCS
from tests.docs.pages import blocks as page_blocks
from tests.exchange.annotators import ANNOTATE
from tests.exchange.data import images


def blocks(page: str) -> list[tuple[str, str]]:
    """The blocks of a page that are run: commands and Python, in their order."""
    return [
        (block.language, block.text)
        for block in page_blocks(DOCS / page)
        if block.language in ("sh", "python") and block.run and "without_guard" not in block.text
    ]


def in_the_tool(name: str, export: str) -> Callable[[Path], None]:
    """What people do between the commands, where no code of the page does it."""

    def annotate(folder: Path) -> None:
        issues = cgscore.load(folder / "scores.parquet").label_issues()
        flagged = issues["is_label_issue"].to_numpy()
        labels = issues["predicted_label"].tolist()
        choices = {at: labels[at] for at in range(len(labels)) if flagged[at]}
        ANNOTATE[name](folder / export, choices)

    return annotate


PAGES: dict[str, Callable[[Path], None] | None] = {
    "csv.md": in_the_tool("csv", "suspects.csv"),
    "label_studio.md": in_the_tool("label-studio", "label-studio"),
    "hugging_face.md": None,
    "argilla.md": in_the_tool("argilla", "argilla-suspects"),
    "fiftyone.md": in_the_tool("fiftyone", "fiftyone-suspects"),
}


@pytest.mark.parametrize("page", PAGES)
def test_from_scores_to_corrected_labels_and_back(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = images(tmp_path)
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for kind, code in blocks(page):
        if kind == "python":
            exec(code, known)
            continue
        for line in code.splitlines():
            command, *arguments = shlex.split(line)
            assert command == "cgscore"
            annotate = PAGES[page]
            if arguments[0] == "import" and annotate is not None:
                annotate(tmp_path)
            done = invoke(*arguments, folder=tmp_path)
            assert done.returncode == 0, done.stderr
    after = cgscore.load(tmp_path / "scores-corrected.parquet").table["given_label"]
    assert {at: after[at] for at in source.truth} == source.truth
    assert (tmp_path / "scores-corrected.labels.csv").exists()
    assert (tmp_path / "scores.parquet.review").exists()
