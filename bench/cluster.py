"""A Dask cluster on this machine: what a second worker is worth, and whether estimates hold.

::

    python bench/cluster.py workers     # the same tasks on one worker and on two, same bits
    python bench/cluster.py estimates   # what `cgscore info` says against what is measured

Scheduler and workers are processes of their own, with one thread each. Both sides of every ratio
are taken in the same run, in turns.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.execution.machine import cores, product_rate
from cgscore.methods.auto import costs
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore_paper.background_process import require_quiet

TURNS = 3


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """A client of a new cluster."""
    module = [sys.executable, "-m"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        shared = ["--scheduler-file", str(file), "--no-dashboard"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = [*module, "distributed.cli.dask_scheduler", *shared, "--port", "0"]
        worker = [*module, "distributed.cli.dask_worker", *shared, "--nthreads", "1"]
        started = [subprocess.Popen([*scheduler, "--host", "127.0.0.1"], **quiet)]
        try:
            while not file.exists():
                time.sleep(0.05)
            started += [subprocess.Popen([*worker, "--no-nanny"], **quiet) for _ in range(workers)]
            with Client(scheduler_file=str(file)) as client:
                client.wait_for_workers(workers, timeout=60)
                yield client
        finally:
            for process in started:
                process.kill()
                process.wait()


def blobs(n: int, p: int, k: int) -> tuple[Any, Any]:
    """N examples in k classes that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    return rng.standard_normal((n, p)) + 2 * rng.standard_normal((k, p))[y], y


def two_against_one() -> None:
    X, y = blobs(5_000, 200, 5)

    def task_seconds(client: Any) -> tuple[float, Any]:
        s = cgscore.score(X, y, method="subsample", ratio=2, runs=4, client=client, judge=False)
        return s.meta["timings"]["tasks"], s

    here = task_seconds(None)[1]
    with cluster(1) as one, cluster(2) as two:
        for client in (one, two):
            task_seconds(client)  # imports, and memory that is given for the first time
        spent: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(TURNS):
            for count, client in ((1, one), (2, two)):
                seconds, found = task_seconds(client)
                spent[count].append(seconds)
                assert found.table.equals(here.table), "not the same bits"
    best = {count: min(values) for count, values in spent.items()}
    print(f"{here.meta['tasks']} tasks of 3,000 rows; the better of {TURNS} runs in turns")
    print(f"  one worker   {best[1]:6.2f} s   {here.meta['tasks'] / best[1]:.2f} tasks/s")
    print(f"  two workers  {best[2]:6.2f} s   {best[1] / best[2]:.2f}x faster (aim 1.7)")
    print("  same bits on one worker, two workers and threads")


def estimates() -> None:
    print("                                    estimate  measured  measured / estimate")
    for n, k in ((6_000, 10), (12_000, 10)):
        X, y = blobs(n, 784, k)
        for method in ("exact", "iterative", "subsample", "partition"):
            runs = {"subsample": 2, "partition": 2}.get(method)
            before = product_rate()
            seconds = measured(X, y, method, runs)
            rate = (before + product_rate()) / 2
            expected = costs(Sizes(n, 784, k), Options.checked(runs=runs))[method].seconds(rate)
            show(f"n = {n:,}, {method}, {cores()} cores here", expected, seconds)
    with cluster(2) as client:
        for n in (6_000, 12_000):
            X, y = blobs(n, 784, 10)
            for method in ("subsample", "partition", "iterative"):
                runs = {"subsample": 2, "partition": 2}.get(method)
                before = product_rate()
                seconds = measured(X, y, method, runs, client)
                rate = (before + product_rate()) / 2
                expected = costs(Sizes(n, 784, 10), Options.checked(runs=runs), 2)[method].seconds(
                    rate
                )
                show(f"n = {n:,}, {method}, 2 workers", expected, seconds)


def measured(X: Any, y: Any, method: str, runs: int | None, client: Any = None) -> float:
    """Seconds of the work itself: without audits of averaged scores, which `info` leaves out."""
    more = {} if runs is None else {"runs": runs}
    s = cgscore.score(X, y, method=method, client=client, judge=False, **more)  # type: ignore[arg-type]
    timings = s.meta["timings"]
    return float(timings["tasks"] if "tasks" in timings else timings["total"])


def show(name: str, expected: float, seconds: float) -> None:
    print(f"{name:<36} {expected:6.1f} s  {seconds:6.1f} s   {seconds / expected:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=["workers", "estimates"])
    warnings.simplefilter("ignore", CGScoreWarning)
    {"workers": two_against_one, "estimates": estimates}[parser.parse_args().what]()


if __name__ == "__main__":
    require_quiet()
    main()
