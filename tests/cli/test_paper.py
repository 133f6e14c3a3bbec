"""``cgscore paper``: what it lists and refuses, and where its extra is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import invoke


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("package", ["torch", "matplotlib", "transformers"])
def test_a_missing_package_is_one_message(tmp_path: Path, package: str) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = ['cgscore', 'paper', 'figure-1'];"
        "from cgscore.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"error: The figures and tables of the paper need {package}, which is not installed. "
        'Run: pip install "cgscore[paper]"\n'
    )
    assert done.stdout == ""


@pytest.mark.needs("matplotlib")
def test_list_prints_one_name_per_line(tmp_path: Path) -> None:
    from cgscore_paper.items import ITEMS

    done = invoke("paper", "--list", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == list(ITEMS)
    document = json.loads(invoke("paper", "--list", "--json", folder=tmp_path).stdout)
    assert document == {"items": list(ITEMS)}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-9"], "NAME must be one of figure-1, table-1"),
        ([], "Give one name or --all"),
        (["appendix-b", "--all"], "Give one name or --all"),
        (["appendix-b"], "Give --data FOLDER, or set CGSCORE_DATA"),
        (["appendix-b", "--data", "nowhere"], "--data nowhere: there is no such folder"),
        (["appendix-b", "--data", ".", "--preset", "large"], "must be one of desk, full, paper"),
        (["appendix-b", "--data", ".", "--jobs", "0"], "--jobs"),
        (["appendix-b", "--data", ".", "--cells", "c"], "There is no Fashion-MNIST in"),
    ],
)
def test_mistakes_are_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.delenv("CGSCORE_DATA", raising=False)
    done = invoke("paper", *arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "results").exists()
