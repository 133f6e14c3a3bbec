"""Items that are made one by one, and the page of all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cgscore_paper.cells import Work
from cgscore_paper.items import do_all
from cgscore_paper.page import page_text
from cgscore_paper.plans import Plan
from cgscore_paper.results import Written
from tests.command import invoke


@pytest.fixture
def fashion(data: Path, tmp_path: Path) -> Path:
    """A folder of data with one dataset only."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "fashion-mnist").symlink_to(data / "fashion-mnist")
    return folder


def test_one_item(plan: Plan, cells: Path, fashion: Path, tmp_path: Path) -> None:
    asked = (
        "appendix-b",
        "--preset",
        "sample",
        "--data",
        str(fashion),
        "--cells",
        str(cells),
        "--jobs",
        "1",
    )
    # the run that computes cells also names those that they are made of
    assert invoke("paper", *asked, "-o", "before", folder=tmp_path).returncode == 0
    done = invoke("paper", *asked, "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "appendix-b" in done.stdout
    assert "Written:  out" in done.stdout
    names = {f"appendix-b.{kind}" for kind in ("json", "md", "png", "svg")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    document = json.loads((tmp_path / "out" / "appendix-b.json").read_text())
    assert document["preset"] == "sample"
    assert document["settings"]["examples"] == 200
    assert list(document["numbers"]["windows"]) == ["fashion-mnist"]
    assert document["not_run"] == ["CIFAR-10: there is no CIFAR-10 in cifar10/ of the data"]
    known = {path.name: path.stat().st_mtime_ns for path in cells.iterdir()}
    again = invoke("paper", *asked, "--json", folder=tmp_path)
    assert json.loads(again.stdout)["items"] == {
        "appendix-b": pytest.approx(document["seconds"], abs=0.1)
    }
    assert {path.name: path.stat().st_mtime_ns for path in cells.iterdir()} == known
    for name in names:  # the same bytes, in the usual place, but for the date
        other = (tmp_path / "results" / "paper" / name).read_bytes()
        first = (tmp_path / "out" / name).read_bytes()
        if name.endswith(".json"):
            first, other = (
                json.dumps(json.loads(text) | {"date": ""}).encode() for text in (first, other)
            )
        assert other == first, name


def test_the_page_of_all(plan: Plan, cells: Path, fashion: Path, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "reproduction.md"
    heard: list[Written] = []
    work = Work(cells, fashion)
    do_all(work, plan, tmp_path / "out", page, names=["appendix-b"], on_item=heard.append)
    text = page.read_text()
    assert "bfloat16" not in text
    reduced = page_text(heard, plan, "", reduced=2)
    assert "In 2 of the trainings steps multiply in bfloat16" in reduced
    assert [one.name for one in heard] == ["appendix-b"]
    assert f"- [{heard[0].title}](#appendix-b-wrong-labels-and-atypical-examples)" in text
    assert "(../out/appendix-b.png)" in text
    assert (page.parent / "../out/appendix-b.png").exists()
    assert text.startswith("# The paper's claims")
    assert text.index("| claim | where | paper | ours |") < text.index("## Settings")
    assert "The paper prints 6 numbers that can be compared" in text
    assert text.count(plan.description) == 1  # settings are said once
    assert str(tmp_path) not in text
