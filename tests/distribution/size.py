"""Megabytes of the core installation by package, and of other ways to store results.

::

    python -m tests.distribution.size -o results/installation.json
    python -m tests.distribution.size --show results/installation.json

The package is installed into an empty environment with the versions of the lock. Sizes are those of
the files that pip records; bytecode, which pip compiles, is counted apart. Each candidate is
installed beside it, and asked to read a saved result.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tests.distribution.environments import PIP, ROOT, Environment, make

MEASURE = """
import importlib.metadata, json
sizes = {}
for package in importlib.metadata.distributions():
    if package.name not in ("pip", "setuptools"):
        files = [(f.suffix == ".pyc", f.locate()) for f in package.files or []]
        total = [sum(p.stat().st_size for c, p in files if c == kind and p.is_file())
                 for kind in (False, True)]
        sizes[package.name] = [package.version, *total]
print(json.dumps(sizes))
"""
#: Libraries that read and write Parquet, and how each reads a saved result with its lists.
CANDIDATES = {
    "fastparquet": "import fastparquet; t = fastparquet.ParquetFile(path).to_pandas();"
    "assert len(t['loo'].iloc[0]) == 3",
    "arro3-io": "import arro3.io; t = arro3.io.read_parquet(path).read_all();"
    "assert len(t['loo'][0].as_py()) == 3",
    "duckdb": "import duckdb; t = duckdb.sql(f\"select loo from '{path}'\").fetchall();"
    "assert len(t[0][0]) == 3",
    "polars": "import polars; t = polars.read_parquet(path); assert len(t['loo'][0]) == 3",
}
RESULT = ROOT / "tests" / "result" / "files" / "format-2.parquet"


def sizes(environment: Environment) -> dict[str, list[Any]]:
    """Version, bytes without bytecode, and bytes of bytecode of every package."""
    done = environment.run(environment.python, "-c", MEASURE)
    measured: dict[str, list[Any]] = json.loads(done.stdout)
    return measured


def try_candidate(environment: Environment, name: str) -> dict[str, Any]:
    """What a library adds to the environment, and whether it reads a saved result."""
    before = set(sizes(environment))
    done = environment.run(environment.python, *PIP, name)
    if done.returncode:
        return {"installed": False, "answer": done.stderr.strip().splitlines()[-1]}
    added = {package: row for package, row in sizes(environment).items() if package not in before}
    program = f"import sys; sys.modules['pyarrow'] = None\npath = {str(RESULT)!r}\n"
    read = environment.run(environment.python, "-c", program + CANDIDATES[name])
    answer = "reads it" if not read.returncode else read.stderr.strip().splitlines()[-1]
    environment.run(environment.python, "-m", "pip", "uninstall", "-qq", "-y", *added)
    return {"installed": True, "packages": added, "answer": answer[:200]}


def measure() -> dict[str, Any]:
    """Everything, as the file of results holds it."""
    head = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    with tempfile.TemporaryDirectory(prefix="cgscore-size-") as folder:
        environment = make(Path(folder) / "core", ROOT, "core")
        packages = sizes(environment)
        candidates = {name: try_candidate(environment, name) for name in CANDIDATES}
    return {
        "command": " ".join(["python -m tests.distribution.size", *sys.argv[1:]]),
        "commit": subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "system": sys.platform,
        "packages": packages,
        "candidates": candidates,
    }


def show(results: dict[str, Any]) -> str:
    """Tables in Markdown."""
    packages = sorted(results["packages"].items(), key=lambda item: -sum(item[1][1:]))
    lines = ["| package | version | MB | of these bytecode |", "|---|---|---|---|"]
    for name, (version, size, compiled) in packages:
        if size + compiled >= 1e6:
            megabytes = f"{(size + compiled) / 1e6:.1f}"
            lines.append(f"| {name} | {version} | {megabytes} | {compiled / 1e6:.1f} |")
    small = [row for _, row in packages if row[1] + row[2] < 1e6]
    lines.append(f"| {len(small)} others | | {_megabytes(small):.1f} | |")
    rows = [row for _, row in packages]
    compiled = sum(row[2] for row in rows) / 1e6
    lines.append(f"| **all** | | **{_megabytes(rows):.0f}** | {compiled:.0f} |")
    arrow = [row for name, row in packages if name == "pyarrow"]
    without = _megabytes(rows) - _megabytes(arrow)
    lines += ["", "| instead of pyarrow | MB | core then | a saved result |", "|---|---|---|---|"]
    for name, tried in results["candidates"].items():
        added = _megabytes(list(tried.get("packages", {}).values()))
        cells = f"{added:.0f} | {without + added:.0f}" if tried["installed"] else "- | -"
        lines.append(f"| {name} | {cells} | {tried['answer']} |")
    return "\n".join(lines)


def _megabytes(rows: list[list[Any]]) -> float:
    return sum(float(row[1] + row[2]) for row in rows) / 1e6


def main() -> None:
    """Measure and write, or show what was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", type=Path)
    given = parser.parse_args()
    results = json.loads(given.show.read_text("utf-8")) if given.show else measure()
    if given.output:
        given.output.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print(show(results))


if __name__ == "__main__":
    main()
