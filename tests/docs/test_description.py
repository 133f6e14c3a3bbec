"""The description for package indexes, made from the README by `hatch_build.py`."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.needs("hatchling")
def test_the_description_has_what_an_index_can_show() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = module.description(readme)
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert links == [link for link in re.findall(r"\]\(([^)]*)\)", readme) if "://" in link]
    assert "<!--" not in text
    sections = re.findall(r"^## (.*)", readme, re.MULTILINE)
    shown = re.findall(r"^## (.*)", text, re.MULTILINE)
    assert shown == [name for name in sections if name not in ("In a clone", "More")]
    assert "pip install cgscore" in text
    assert "choosing a method" in text  # the text of a link stays
