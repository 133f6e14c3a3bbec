"""Megabytes of the core installation by package, and of other ways to store results.

::

    python -m tests.distribution.size -o results/installation.json
    python -m tests.distribution.size --show results/installation.json

The package is installed into an empty environment with the versions of the lock. Sizes are those of
the files that pip records; bytecode, which pip compiles, is counted apart. Each candidate is
installed beside it, and asked to read a saved result. At the end pyarrow is taken away, and every
command that worked with it is tried again.
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
from tests.distribution.smokes import DATA, SMOKES, run

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
#: Files that no command opens: tests that packages bring along, files for compilers, and libraries
#: of pyarrow that tables, saved results and reports do not load.
UNUSED = """
import importlib.metadata, json, os, re, sys, tempfile
import cgscore, pandas
os.chdir(tempfile.mkdtemp())
table = pandas.DataFrame({"a": range(60), "b": list("abc") * 20, "label": list("xy") * 30})
table.to_csv("t.csv", index=False), table.to_parquet("t.parquet"), table.to_feather("t.feather")
for name in ("t.csv", "t.parquet", "t.feather"):
    cgscore.score(name).save("scores.parquet")
    cgscore.load("scores.parquet").report("report.html")
loaded = set(re.findall(r"/\\S*pyarrow/(\\S*)", open("/proc/self/maps").read()))
sizes = dict.fromkeys(("tests", "for compilers", "libraries of pyarrow"), 0)
for package in importlib.metadata.distributions():
    for file in package.files or []:
        path = file.locate()
        if package.name in ("pip", "setuptools") or not path.is_file():
            continue
        if {"tests", "_tests"} & set(file.parts):
            sizes["tests"] += path.stat().st_size
        elif file.suffix in (".h", ".hpp", ".pxd", ".pxi", ".pyx", ".a", ".c", ".cc"):
            sizes["for compilers"] += path.stat().st_size
        elif package.name == "pyarrow" and ".so" in file.name and file.name not in loaded:
            sizes["libraries of pyarrow"] += path.stat().st_size
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


def unused(environment: Environment) -> dict[str, int]:
    """Bytes of files that no command opens, by kind."""
    done = environment.run(environment.python, "-c", UNUSED)
    measured: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return measured


def without_pyarrow(environment: Environment) -> dict[str, int]:
    """How many calls that work with pyarrow work without it."""
    environment.run(environment.python, "-c", DATA)
    chosen = [one for one in SMOKES if one.needs is None]
    works = [one for one in chosen if run(one, environment) == "ok"]
    environment.run(environment.python, "-m", "pip", "uninstall", "-qq", "-y", "pyarrow")
    left = [one for one in works if run(one, environment) == "ok"]
    return {"with": len(works), "without": len(left)}


def measure() -> dict[str, Any]:
    """Everything, as the file of results holds it."""
    head = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    with tempfile.TemporaryDirectory(prefix="cgscore-size-") as folder:
        environment = make(Path(folder) / "core", ROOT, "core")
        packages = sizes(environment)
        never = unused(environment)
        candidates = {name: try_candidate(environment, name) for name in CANDIDATES}
        calls = without_pyarrow(environment)
    return {
        "command": " ".join(["python -m tests.distribution.size", *sys.argv[1:]]),
        "commit": subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "system": sys.platform,
        "packages": packages,
        "unused": never,
        "candidates": candidates,
        "calls_without_pyarrow": calls,
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
    lines += ["", "| what no command opens | MB |", "|---|---|"]
    lines += [f"| {name} | {size / 1e6:.0f} |" for name, size in results["unused"].items()]
    calls = results["calls_without_pyarrow"]
    lines += ["", f"Without pyarrow {calls['without']} of {calls['with']} calls work."]
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
