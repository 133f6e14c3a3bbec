"""Runs killed at random moments and resumed, compared bit by bit with one that was not.

::

    python bench/kills.py            # twenty runs, some minutes

Each run is started in a process of its own, killed with SIGKILL after a random time, once or twice,
and started again until it ends. Half of them work in memory, half from disk under a memory limit.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from exact import data

import cgscore
from cgscore_paper.background_process import require_quiet

LIMIT = 60_000_000


def work(n: int, output: str, checkpoint: str | None, limit: int | None) -> None:
    X, y = data(n, 100, 5)
    options: dict[str, Any] = {"memory_limit": limit, "checkpoint": checkpoint, "progress": False}
    scores = cgscore.score(X, y, method="exact", judge=False, **options)
    np.savez(output, d=scores.d, alpha=scores.alpha, loo=scores.loo)


def start(
    n: int, output: Path, checkpoint: Path | None, limit: int | None
) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "-n", str(n), "--work", str(output)]
    command += ["--checkpoint", str(checkpoint)] if checkpoint else []
    command += ["--limit", str(limit)] if limit else []
    return subprocess.Popen(command)


def same(a: Path, b: Path) -> bool:
    with np.load(a) as first, np.load(b) as second:
        return all(np.array_equal(first[name], second[name]) for name in first.files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=6_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--checkpoint", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.n, options.work, options.checkpoint, options.limit)
        return
    draw = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="cgscore-kills-"))
    whole, seconds = {}, {}
    for limit in (None, LIMIT):
        whole[limit] = folder / f"whole-{limit}.npz"
        began = time.perf_counter()
        if start(options.n, whole[limit], None, limit).wait():
            sys.exit("the run without interruption failed")
        seconds[limit] = time.perf_counter() - began
    equal = kills = 0
    for run in range(options.runs):
        limit = (None, LIMIT)[run % 2]
        checkpoint, output = folder / "checkpoint", folder / "resumed.npz"
        killed, panels, latest = 0, [], 0.9
        while True:
            process = start(options.n, output, checkpoint, limit)
            if killed < 2:
                time.sleep(draw.uniform(0.1, latest) * seconds[limit])
                if process.poll() is None:
                    process.kill()
                    killed += 1
            if process.wait() == 0 and killed:
                break
            if killed:
                panels.append(len(list(checkpoint.glob("panel-*.tiles"))))
            else:  # it ended before it could be killed: once more, and sooner
                shutil.rmtree(checkpoint)
                latest *= 0.7
        equal += same(output, whole[limit])
        kills += killed
        where = "memory" if limit is None else "disk"
        print(f"  run {run + 1}: {where}, killed {killed} times, panels kept then {panels}")
        sys.stdout.flush()
        shutil.rmtree(checkpoint)
        output.unlink()
    shutil.rmtree(folder)
    print(f"n = {options.n:,}: {options.runs} runs, {kills} kills, {equal} bit-identical")


if __name__ == "__main__":
    require_quiet()
    main()
