"""Prints the lower bounds of pyproject's dependencies as versions to install: ``numpy==1.26``.

``python tests/lowest.py`` has those of the package itself; names of extras add theirs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib


def lowest(extras: list[str]) -> list[str]:
    """Every requirement with a lower bound, at that bound."""
    document = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    project = document["project"]
    wanted = [*project["dependencies"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    bounds = (re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", one) for one in wanted)
    return [f"{match[1]}=={match[2]}" for match in bounds if match]


if __name__ == "__main__":
    print("\n".join(lowest(sys.argv[1:])))
