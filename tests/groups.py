"""Runs the tests in two groups, both of them whatever happens, and says at the end what failed.

The first group runs in two processes with one BLAS thread each. The second has the machine's own
number of BLAS threads, and the cores for itself: what it tests depends on them. Tests of the
reproduction of the paper, which train small networks, are a group of their own (``--paper``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

WITH_ALL_THREADS = [
    "tests/execution/test_blas.py",
    "tests/execution/test_checkpoint.py",
    "tests/solvers/cholesky/test_factor.py",
    "tests/solvers/cholesky/test_storage.py",
    "tests/test_kernel.py",
]
PAPER = "tests/cgscore_paper"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(arguments: list[str], environment: dict[str, str]) -> tuple[int, list[str]]:
    """Exit status of pytest, and the lines of its summary that name what failed."""
    command = [sys.executable, "-m", "pytest", "-m", "not slow", *arguments]
    failed = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            if re.match(r"(FAILED|ERROR) ", line):
                failed.append(line.rstrip())
    return process.returncode, failed


def main() -> int:
    """Run the groups; 0 if nothing failed."""
    more = sys.argv[1:]
    two = ["-n", "2", "--dist", "worksteal"]
    others = [f"--ignore={path}" for path in (*WITH_ALL_THREADS, PAPER)]
    groups: list[tuple[str, list[str], dict[str, str]]] = [
        ("two at a time, one BLAS thread each", [*two, *others], ONE_THREAD),
        ("one at a time, all BLAS threads", WITH_ALL_THREADS, {}),
    ]
    if "--paper" in more:
        more.remove("--paper")
        groups = [("the paper, two at a time", [*two, PAPER], ONE_THREAD)]
    summary, status = [], 0
    for name, arguments, environment in groups:
        start = time.monotonic()
        code, failed = run([*arguments, *more], environment)
        took = f"{time.monotonic() - start:.0f} s"
        summary.append(f"{name}: {'passed' if not code else f'FAILED ({code})'}, {took}")
        summary += [f"  {line}" for line in failed]
        status = status or code
    print("\n" + "\n".join(summary))
    return status


if __name__ == "__main__":
    sys.exit(main())
