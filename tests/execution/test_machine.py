"""Sizes, durations, and what the machine says of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from cgscore.errors import OptionError
from cgscore.execution import machine


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4 * 10**9),
        ("512 MiB", 512 * 2**20),
        ("1.5k", 1500),
        (10, 10),
        ("7", 7),
        ("2tb", 2 * 10**12),
    ],
)
def test_sizes_are_understood(text: str | int, size: int) -> None:
    assert machine.parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4XB", "-1GB", 0, float("nan")])
def test_other_texts_are_not_sizes(text: str | float) -> None:
    with pytest.raises(OptionError, match="is not a size"):
        machine.parse_bytes(text)


def test_sizes_and_durations_for_people() -> None:
    assert machine.show_bytes(14.4e9) == "14.4 GB"
    assert machine.show_bytes(1500) == "1.5 kB"
    assert [machine.show_seconds(s) for s in (0.64, 42, 600, 10_000)] == [
        "0.6 s",
        "42 s",
        "10 min",
        "2.8 h",
    ]


def test_the_machine_is_plausible() -> None:
    assert 0 < machine.available_memory() < 2**50
    assert 1 <= machine.cores() < 10_000
    assert 10**7 < machine.peak_memory() < 2**50
    assert machine.product_rate(256) > 1e8


def test_peak_memory_sees_an_allocation() -> None:
    program = """
import numpy as np
from cgscore.execution.machine import peak_memory
before = peak_memory()
held = np.ones(10**8 // 8 + before // 8)
print(held[0], peak_memory() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    one, more = done.stdout.split()
    assert one == "1.0"
    assert float(more) >= 10**8


def test_peak_memory_where_proc_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS, then as on Windows, then where nothing says it."""
    expected = machine.peak_memory()
    monkeypatch.setattr(machine, "PROCESS_STATUS", tmp_path / "nothing")
    if sys.platform != "win32":
        assert machine.peak_memory() >= expected // 2
    monkeypatch.setitem(sys.modules, "resource", None)
    assert 0 < machine.peak_memory() < 2 * expected
    numbers = SimpleNamespace(rss=5, peak_wset=7)
    monkeypatch.setattr(psutil.Process, "memory_info", lambda self: numbers)
    assert machine.peak_memory() == 7
    del numbers.peak_wset
    assert machine.peak_memory() == 5


def test_a_status_without_the_peak_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "status").write_text("Name: python\nVmRSS: 3 kB\n")
    monkeypatch.setattr(machine, "PROCESS_STATUS", tmp_path / "status")
    assert machine.peak_memory() > 10**6


def test_cores_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert machine.cores() == 3


@pytest.mark.parametrize("windows", [False, True])
def test_the_lowest_priority_by_either_name(monkeypatch: pytest.MonkeyPatch, windows: bool) -> None:
    asked: list[int] = []
    monkeypatch.setattr(psutil.Process, "nice", lambda self, value: asked.append(value))
    monkeypatch.delattr(psutil, "IDLE_PRIORITY_CLASS", raising=False)
    if windows:
        monkeypatch.setattr(psutil, "IDLE_PRIORITY_CLASS", 64, raising=False)
    machine.lower_priority()
    assert asked == [64 if windows else 19]
