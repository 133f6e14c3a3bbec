"""Prints the tests of the core: those that need the package's own dependencies alone.

``make test-core``, ``make test-lowest`` and the workflow in ``.github`` run them.
"""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
FOLDERS = ("cli", "data", "exchange", "issues", "methods", "result", "selection", "solvers")
#: They use an extra throughout.
OTHERS = ("test_examples.py", "execution/test_dask.py", "execution/test_processors.py")


def core_tests() -> list[str]:
    """Files and folders, relative to the repository."""
    files = [*TESTS.glob("test_*.py"), *(TESTS / "execution").glob("test_*.py")]
    names = {path.relative_to(TESTS).as_posix() for path in files} - set(OTHERS)
    return [f"tests/{name}" for name in sorted(names | set(FOLDERS))]


if __name__ == "__main__":
    print(*core_tests(), end="")  # a shell on Windows would keep the end of the line
