"""The command `cgscore paper`, and the page of all items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cgscore_paper.cells import Work
from cgscore_paper.items import ITEMS, do_all
from cgscore_paper.plans import Plan
from cgscore_paper.results import Written
from tests.command import Done, invoke


@pytest.fixture
def fashion(data: Path, tmp_path: Path) -> Path:
    """A folder of data with one dataset only."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "fashion-mnist").symlink_to(data / "fashion-mnist")
    return folder


def paper(folder: Path, *arguments: str) -> Done:
    return invoke("paper", *arguments, folder=folder)


def test_list_prints_one_name_per_line(tmp_path: Path) -> None:
    done = paper(tmp_path, "--list")
    assert done.returncode == 0
    assert done.stdout.splitlines() == list(ITEMS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-9"], "NAME must be one of figure-1, table-1"),
        ([], "Give one name or --all"),
        (["appendix-b", "--all"], "Give one name or --all"),
        (["appendix-b"], "Give --data FOLDER, or set CGSCORE_DATA"),
        (["appendix-b", "--data", "nowhere"], "--data nowhere: there is no such folder"),
        (["appendix-b", "--data", ".", "--preset", "large"], "Choose from: desk, paper"),
        (["appendix-b", "--data", ".", "--jobs", "0"], "--jobs"),
        (["appendix-b", "--data", ".", "--cells", "c"], "There is no Fashion-MNIST in"),
    ],
)
def test_mistakes_are_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.delenv("CGSCORE_DATA", raising=False)
    done = paper(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "results").exists()


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
    done = paper(tmp_path, *asked, "-o", "out")
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
    again = paper(tmp_path, *asked, "--json")
    assert json.loads(again.stdout)["items"] == {
        "appendix-b": pytest.approx(document["seconds"], abs=0.1)
    }
    assert {path.name: path.stat().st_mtime_ns for path in cells.iterdir()} == known
    for name in names:  # the same bytes, in the usual place
        other = tmp_path / "results" / "paper" / name
        assert other.read_bytes() == (tmp_path / "out" / name).read_bytes(), name


def test_the_page_of_all(plan: Plan, cells: Path, fashion: Path, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "reproduction.md"
    heard: list[Written] = []
    work = Work(cells, fashion)
    do_all(work, plan, tmp_path / "out", page, names=["appendix-b"], on_item=heard.append)
    text = page.read_text()
    assert [one.name for one in heard] == ["appendix-b"]
    assert f"- [{heard[0].title}](#appendix-b-wrong-labels-and-atypical-examples)" in text
    assert "(../out/appendix-b.png)" in text
    assert (page.parent / "../out/appendix-b.png").exists()
    assert "3 numbers of the paper stand beside ours" in text
    assert str(tmp_path) not in text
