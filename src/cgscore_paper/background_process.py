"""The process that trains in the background: whether it is alive, and how to pause it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import psutil

from cgscore.execution.files import cache_folder


def state_file() -> Path | None:
    """The file that names the process in the background; None without a cache folder."""
    folder = cache_folder()
    return None if folder is None else folder / "background.json"


def process() -> psutil.Process | None:
    """The process in the background, if it is alive."""
    file = state_file()
    try:
        state = json.loads(file.read_text()) if file else {}
        current = psutil.Process(int(state["pid"]))
        return current if abs(current.create_time() - float(state["started"])) < 1 else None
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return None


def active() -> bool:
    """Whether trainings run in the background and are not paused."""
    current = process()
    return current is not None and current.status() != psutil.STATUS_STOPPED


def pause() -> bool:
    """Halt the trainings; whether there are any."""
    return _signal_all("suspend")


def resume() -> bool:
    """Let halted trainings go on; whether there are any."""
    return _signal_all("resume")


def _signal_all(action: str) -> bool:
    parent = process()
    if parent is None:
        return False
    for member in [parent, *parent.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            getattr(member, action)()
    return True


def require_quiet() -> None:
    """Exit with a message if trainings run in the background: times would be wrong."""
    if active():
        raise SystemExit(
            "Trainings run in the background, so that times would be wrong. Pause them: "
            "python -m cgscore_paper.background pause"
        )
