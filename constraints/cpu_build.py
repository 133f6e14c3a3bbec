"""Takes torch's CPU build into a lock: ``cpu_build.py VERSION PYTHON=HASH ...``.

The lock of VERSION is rewritten if the hash of the CPU build for that Python is given. On Linux its
CPU build is then installed and what only the CUDA build needs is left out; elsewhere nothing
changes, since the usual builds are for CPUs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def with_cpu_build(lock: str, digest: str) -> str:
    """The lock with torch's CPU build on Linux."""
    entries = re.split(r"\n(?=\S)", lock.rstrip())
    lines = []
    for entry in entries:
        name, _, version = entry.split(" ")[0].partition("==")
        if name == "torch" and "+cpu" not in version:
            lines.append(
                f'torch=={version}+cpu ; sys_platform == "linux" \\\n    --hash={digest}\n'
                + entry.replace(version, f'{version} ; sys_platform != "linux"', 1)
            )
        elif not re.match("nvidia|cuda|triton|torch==.*cpu", entry):
            lines.append(entry)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    python, *digests = sys.argv[1:]
    found = dict(digest.split("=", 1) for digest in digests)
    if python in found:
        path = Path(__file__).parent / f"python{python}.txt"
        path.write_text(with_cpu_build(path.read_text(), found[python]))
