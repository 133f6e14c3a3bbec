"""The tests as other processors would run them, one difference at a time, and a table of it.

OpenBLAS, torch, oneDNN and MKL carry code for many processors and can be told which to use. Each
row here tells one of them, checks that the library has heeded it, and runs the tests that depend
on it. ``--short`` takes two types of OpenBLAS that this machine is not, and numerical tests only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

NUMERICAL = [
    "tests/test_kernel.py",
    "tests/test_valuation.py",
    "tests/test_factorisation.py",
    "tests/test_duplicates.py",
    "tests/issues",
    "tests/methods",
    "tests/selection",
    "tests/solvers",
]
EXECUTION = ["tests/execution"]
TRAINING = ["tests/training", "tests/data/encoders"]

#: What the libraries report in an environment.
PROBE = """
import json, sys
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
pools = [pool for pool in threadpool_info() if pool["internal_api"] == "openblas"]
found = {
    "core": sorted({pool["architecture"] for pool in pools}),
    "threads": sorted({pool["num_threads"] for pool in pools}),
}
if "torch" in sys.argv:
    import torch
    found["torch"] = torch.backends.cpu.get_cpu_capability()
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Row:
    """A difference from this machine, the flag of the processor it takes, and what it concerns."""

    name: str
    environment: dict[str, str]
    tests: list[str]
    reported: dict[str, object]
    needs: str = ""
    alias: dict[str, object] | None = None


def core(name: str, needs: str, alias: str = "") -> Row:
    """A type of OpenBLAS; `alias` is the one whose code the builds on PyPI use for it."""
    return Row(
        f"OPENBLAS_CORETYPE={name}",
        {"OPENBLAS_CORETYPE": name},
        NUMERICAL + EXECUTION,
        {"core": [name]},
        needs,
        {"core": [alias]} if alias else None,
    )


def threads(count: int) -> Row:
    """A number of BLAS threads."""
    return Row(
        f"OPENBLAS_NUM_THREADS={count}",
        {"OPENBLAS_NUM_THREADS": str(count)},
        NUMERICAL + EXECUTION,
        {"threads": [count]},
    )


def torch(name: str, reported: str, needs: str = "") -> Row:
    """Vector instructions of torch itself."""
    return Row(
        f"ATEN_CPU_CAPABILITY={name}",
        {"ATEN_CPU_CAPABILITY": name},
        TRAINING,
        {"torch": reported},
        needs,
    )


CORES = [
    core("Nehalem", "sse4_2"),
    core("Haswell", "avx2"),
    core("Zen", "avx2", "Haswell"),
    core("SkylakeX", "avx512f"),
]
ROWS = [
    *CORES,
    threads(1),
    threads(2),
    torch("default", "DEFAULT"),
    torch("avx2", "AVX2", "avx2"),
    torch("avx512", "AVX512", "avx512f"),
    Row(
        "oneDNN and MKL as SSE4",
        {"ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
        TRAINING,
        {},
    ),
]


def flags() -> set[str]:
    """What this processor can do."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    return set()


def probe(environment: dict[str, str], *more: str) -> dict[str, object]:
    """What the libraries report."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *more],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def run(row: Row) -> tuple[str, str]:
    """The verdict, and pytest's last line; output is shown where tests fail."""
    found = probe(row.environment, *(["torch"] if "torch" in row.reported else []))
    for name, value in row.reported.items():
        if row.alias and found[name] == row.alias[name]:
            return "left out", f"this build of the library takes it for {found[name]}"
        if found[name] != value:
            return "FAILED", f"asked for {value}, but the library reports {found[name]}"
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-n", "2"]
    done = subprocess.run(
        [*command, "--dist", "worksteal", "-p", "no:cacheprovider", *row.tests],
        env={**os.environ, **row.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        print(done.stdout)
    verdict = "FAILED" if done.returncode else "passed"
    return verdict, done.stdout.strip().splitlines()[-1].strip("= ")


def main() -> int:
    """Run the rows and print the table."""
    here, has = probe({}), flags()
    rows = ROWS
    if "--short" in sys.argv:
        others = [
            row for row in (CORES[0], CORES[1], CORES[3]) if row.reported["core"] != here["core"]
        ]
        others = [row for row in others if not row.needs or row.needs in has][:2]
        rows = [Row(row.name, row.environment, NUMERICAL, row.reported) for row in others]
    print(f"this machine: OpenBLAS {here['core']}, {here['threads']} threads", flush=True)
    table, failed = [], False
    for row in rows:
        if row.needs and row.needs not in has:
            table.append((row.name, "left out", f"this processor has no {row.needs}"))
            continue
        start = time.monotonic()
        verdict, text = run(row)
        failed |= verdict == "FAILED"
        table.append((row.name, verdict, text))
        print(f"{row.name}: {verdict}, {time.monotonic() - start:.0f} s", flush=True)
    print()
    for name, verdict, text in table:
        print(f"{name:32s} {verdict:9s} {text}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
