"""The Pythons and systems that are promised are the same wherever they are named."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, ROOT

WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")


def promised() -> list[str]:
    """The Pythons of the package's metadata."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def test_pythons() -> None:
    pythons = promised()
    assert len(pythons) > 1
    metadata = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={pythons[0]}"' in metadata
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\nPROMISED := {' '.join(pythons)}\n" in makefile
    matrix = ", ".join(f'"{python}"' for python in pythons)
    assert f"python: [{matrix}]" in WORKFLOW
    for python in pythons:
        assert (ROOT / f"constraints/python{python}-core.txt").exists()
        assert (ROOT / f"constraints/python{python}.txt").exists()
    table = (DOCS / "platforms.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| Python (3\.\d+) \|", table, re.M) == pythons


def test_systems() -> None:
    systems = re.findall(r"^ +os: \[(.*)\]$", WORKFLOW, re.M)
    assert len(systems) == 2  # the core, and the extras whose code differs between systems
    for named in systems:
        assert named.split(", ") == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_the_workflow_names_tests_that_exist() -> None:
    for path in re.findall(r"\btests/[\w./]+", WORKFLOW):
        assert (ROOT / path).exists(), path
