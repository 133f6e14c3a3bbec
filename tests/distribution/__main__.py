"""Builds the wheel and the source archive, checks them, and runs every command from the wheel.

::

    python -m tests.distribution                     # everything; ten minutes
    python -m tests.distribution --environments core review

Built files go to ``dist/``. Each environment is empty and outside of the repository: one has the
package's own dependencies, the others one extra each. A command that needs an extra that is not
there must say which one in one line, and exit with 2.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tests.distribution.environments import (
    EXTRAS,
    PIP,
    ROOT,
    Environment,
    installed_megabytes,
    make,
)
from tests.distribution.smokes import DATA, SMOKES, commands, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

DIST = ROOT / "dist"
#: Tests that are run from the unpacked source archive against the installed wheel.
ARCHIVE_TESTS = (
    "tests/test_package.py",
    "tests/test_kernel.py",
    "tests/result",
    "tests/cli/test_demo.py",
)


def build() -> tuple[Path, Path]:
    """The source archive, and the wheel that is built from it."""
    shutil.rmtree(DIST, ignore_errors=True)
    _tool("build", "--no-isolation", "--outdir", DIST, ROOT)
    (archive,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return archive, wheel


def check(archive: Path, wheel: Path) -> None:
    """Metadata, contents, the same version everywhere."""
    _tool("twine", "check", "--strict", archive, wheel)
    _tool("check_wheel_contents", wheel)
    subprocess.run(
        [Path(sys.executable).with_name("cffconvert"), "--validate"], cwd=ROOT, check=True
    )
    with zipfile.ZipFile(wheel) as opened:
        metadata = next(name for name in opened.namelist() if name.endswith("/METADATA"))
        relative = re.findall(r"\]\((?!https?:)[^)]*\)", opened.read(metadata).decode())
    if relative:
        raise SystemExit(f"The description has links that lead nowhere: {', '.join(relative)}")
    missing = sorted(_package_files() - set(zipfile.ZipFile(wheel).namelist()))
    if missing:
        raise SystemExit(f"The wheel lacks {', '.join(missing)}")
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    absent = sorted(_tracked() - held)
    if absent:
        raise SystemExit(f"The source archive lacks {', '.join(absent)}")
    for file in (archive, wheel):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")


def _package_files() -> set[str]:
    """Files under ``src``, as the wheel names them."""
    return {name.removeprefix("src/") for name in _tracked() if name.startswith("src/")}


def _tracked() -> set[str]:
    """Files of the repository that the source archive must have: all that pyproject includes."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        archive = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["sdist"]
    included = [f"{name}/" for name in archive["include"]]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    left_out = [pattern for name in archive["exclude"] for pattern in (name, f"{name}/*")]
    return {
        name
        for name in listed
        if any(f"{name}/".startswith(one) for one in included)
        and not any(fnmatch.fnmatch(name, pattern) for pattern in left_out)
    }


def _tool(module: str, *arguments: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    print(f"{module}: {'ok' if not done.returncode else 'FAILED'}")
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def smoke(environment: Environment) -> dict[str, str]:
    """A cell for each call."""
    made = environment.run(environment.python, "-c", DATA)
    if made.returncode:
        raise SystemExit(made.stderr)
    known = commands(environment)
    cells = {}
    for one in SMOKES:
        if one.program or one.command.startswith("-") or one.command in known:
            cells[one.name] = run(one, environment)
            print(f"  {environment.extra:9} {one.name:50} {cells[one.name]}", flush=True)
    for name in sorted(known - {one.command for one in SMOKES}):
        cells[name] = "FAILED: no call of it in tests/distribution/smokes.py"
    where = environment.run(environment.python, "-c", "import cgscore; print(cgscore.__file__)")
    if not Path(where.stdout.strip()).is_relative_to(environment.folder):
        cells["import cgscore"] = f"FAILED: it is {where.stdout.strip()}"
    return cells


def test_archive(archive: Path, environment: Environment) -> str:
    """The tests that the source archive has, run there against the installed wheel."""
    environment.run(environment.python, *PIP, "pytest", "hypothesis")
    folder = environment.folder / "archive"
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    shutil.rmtree(root / "src")  # the wheel is tested, not what lies beside the tests
    core = Environment(environment.extra, environment.folder)
    done = subprocess.run(
        [
            core.python,
            "-m",
            "pytest",
            "-q",
            "-m",
            "not slow",
            "-p",
            "no:cacheprovider",
            *ARCHIVE_TESTS,
        ],
        cwd=root,
        env={**core.variables, "CGSCORE_TESTS": "core"},
        capture_output=True,
        text=True,
    )
    last = (done.stdout.strip().splitlines() or [done.stderr])[-1]
    if done.returncode:
        print(done.stdout[-4000:])
        return f"FAILED: {last}"
    return last


def table(columns: dict[str, dict[str, str]]) -> str:
    """Calls by environments."""
    names = list(dict.fromkeys(name for cells in columns.values() for name in cells))
    rows = [["", *columns]]
    rows += [[name, *(cells.get(name, "") for cells in columns.values())] for name in names]
    widths = [
        max(len(re.sub("FAILED.*", "FAILED", row[i])) for row in rows) for i in range(len(rows[0]))
    ]
    return "\n".join(
        "  ".join(
            re.sub("FAILED.*", "FAILED", cell).ljust(width)
            for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def main() -> int:
    """Build, check, install and run; 0 if nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", nargs="*", choices=EXTRAS, default=list(EXTRAS))
    chosen = parser.parse_args().environments
    archive, wheel = build()
    check(archive, wheel)
    columns: dict[str, dict[str, str]] = {}
    for extra in chosen:
        with tempfile.TemporaryDirectory(prefix="cgscore-dist-") as folder:
            environment = make(Path(folder) / extra, wheel, extra)
            cells = {"megabytes installed": f"{installed_megabytes(environment):.0f}"}
            cells |= smoke(environment)
            if extra == "core":
                cells["tests of the source archive"] = test_archive(archive, environment)
            columns[extra] = cells
    print("\n" + table(columns))
    failed = [
        f"{extra}: {name}: {cell}"
        for extra, cells in columns.items()
        for name, cell in cells.items()
        if cell.startswith("FAILED")
    ]
    print("\n".join(["", *failed]) if failed else "\nNothing failed.")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
