"""Names from data that may become files, on POSIX and on Windows."""

from __future__ import annotations

import pytest

from cgscore.execution import file_names
from cgscore.execution.file_names import is_file_name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0"])
@pytest.mark.parametrize("windows", [False, True])
def test_names_that_lead_elsewhere(
    name: str, windows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_names, "WINDOWS", windows)
    assert not is_file_name(name)


@pytest.mark.parametrize("name", ["cat", "3", "-1.5", "a b", ".hidden", "été", "console", "com"])
@pytest.mark.parametrize("windows", [False, True])
def test_names_for_every_system(name: str, windows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_names, "WINDOWS", windows)
    assert is_file_name(name)


@pytest.mark.parametrize(
    "name", ["a:b", "why?", 'a"', "a|b", "nul", "NUL.png", "Com1", "end.", "end ", "tab\t", "aux ."]
)
def test_names_that_windows_takes_for_something_else(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_names, "WINDOWS", False)
    assert is_file_name(name)
    monkeypatch.setattr(file_names, "WINDOWS", True)
    assert not is_file_name(name)
