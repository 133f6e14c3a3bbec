"""Where a result comes from: the commit of the sources, the machine and the date."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from cgscore_paper.sources import script_digest

_ROOT = Path(__file__).resolve().parent


def provenance() -> dict[str, str | None]:
    """Commit, machine and date, as a file of results stores them."""
    now = datetime.now(timezone.utc)
    return {"commit": commit(), "machine": machine(), "date": now.isoformat(timespec="seconds")}


def script_origin(script: str) -> dict[str, str | None]:
    """The same with the digest of a script's sources and its command, for the files of benches."""
    path = Path(script).resolve()
    command = " ".join(["python", f"{path.parent.name}/{path.name}", *sys.argv[1:]])
    return {"command": command, **provenance(), "sources": script_digest(path)}


@functools.cache
def commit() -> str | None:
    """The commit of this checkout, with ``+`` if files differ from it; None outside of one."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + "+" * bool(_git("status", "--porcelain", "--", str(_ROOT.parent)))
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(_ROOT), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@functools.cache
def machine() -> str:
    """The processor and the number of cores."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} cores"
