"""A Dask cluster on this machine: what a second worker is worth, and whether estimates hold.

::

    python bench/cluster.py workers     # the same tasks on one worker and on two, same bits
    python bench/cluster.py estimates   # what `cgscore info` says against what is measured
    python bench/cluster.py --show      # what was measured

Scheduler and workers are processes of their own, with one thread each. Both sides of every ratio
are taken in the same run, in turns. Figures are written to results/cluster.json.
"""

from __future__ import annotations

import argparse
import json
import os
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
from cgscore_paper.provenance import script_origin

RESULTS = Path(__file__).parents[1] / "results" / "cluster.json"
TURNS = 2
SENT = ("subsample", "partition", "lowrank")  # methods that clusters run task by task
OPTIONS: dict[str, dict[str, Any]] = {
    "subsample": {"runs": 2},
    "partition": {"runs": 2},
    "lowrank": {"ridge": 0.1, "landmarks": 2000},
}


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


def two_against_one() -> dict[str, Any]:
    """Seconds of tasks on one worker and on two, for the paper's estimator and for landmarks."""
    found: dict[str, Any] = {"products": [product_rates(1), product_rates(2)]}
    for method, sizes, more in (
        ("subsample", (5_000, 200, 5), {"ratio": 2, "runs": 4}),
        ("lowrank", (80_000, 200, 10), {"ridge": 0.1, "landmarks": 2000}),
    ):
        X, y = blobs(*sizes)
        options: dict[str, Any] = {"method": method, "judge": False, **more}
        here = task_seconds(cgscore.score(X, y, **options))[1]
        with cluster(1) as one, cluster(2) as two:
            for client in (one, two):  # imports, and memory that is given for the first time
                cgscore.score(X, y, client=client, **options)
            spent: dict[int, list[float]] = {1: [], 2: []}
            for _ in range(TURNS):
                for count, client in ((1, one), (2, two)):
                    seconds, scores = task_seconds(cgscore.score(X, y, client=client, **options))
                    spent[count].append(seconds)
                    assert scores.table.equals(here.table), "not the same bits"
        best = {count: min(values) for count, values in spent.items()}
        found[method] = {"n": len(X), "p": X.shape[1], "one": best[1], "two": best[2]}
        print(found[method], flush=True)
    return found


PRODUCTS = """
import sys, time
import numpy as np
from scipy.linalg import blas
A = np.asfortranarray(np.random.default_rng(0).standard_normal((1000, 1000)))
C, count = np.zeros_like(A), 0
time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
start = time.perf_counter()
while time.perf_counter() - start < 5:
    blas.dgemm(1.0, A, A, 1.0, C, trans_b=1, overwrite_c=1)
    count += 1
print(2e-9 * 1000**3 * count / (time.perf_counter() - start))
"""


def product_rates(processes: int) -> float:
    """GFLOP/s of matrix products in so many processes of one thread at the same time, together."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PRODUCTS, str(time.time() + 2)]
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    return sum(float(process.communicate()[0]) for process in started)


def estimates() -> list[dict[str, Any]]:
    """What was estimated and what it took, here and on two workers."""
    found = []
    for n in (6_000, 12_000, 40_000):
        methods = ("lowrank",) if n > 20_000 else ("exact", "iterative", *SENT)
        found += [compared(n, method, None, None) for method in methods]
    with cluster(2) as client:
        for n in (6_000, 12_000, 40_000):
            sent = ("lowrank",) if n > 20_000 else ("iterative", *SENT)
            found += [compared(n, method, client, 2) for method in sent]
    return found


def compared(n: int, method: str, client: Any, workers: int | None) -> dict[str, Any]:
    """One method: seconds of the work itself, without audits, which `info` leaves out."""
    X, y = blobs(n, 784, 10)
    options = OPTIONS.get(method, {})
    before = product_rate()
    scores = cgscore.score(X, y, method=method, client=client, judge=False, **options)
    seconds = task_seconds(scores)[0]
    rate = (before + product_rate()) / 2
    cost = costs(Sizes(n, 784, 10), Options.checked(**options), workers)[method]
    estimate: dict[str, Any] = {"n": n, "method": method, "workers": workers or 0}
    estimate |= {"estimate": cost.seconds(rate, cluster=workers), "measured": seconds}
    print(estimate, flush=True)
    return estimate


def task_seconds(scores: Any) -> tuple[float, Any]:
    """Seconds of the work, and the scores."""
    timings = scores.meta["timings"]
    if scores.meta["method"] == "lowrank":
        return sum(timings[name] for name in ("landmarks", "blocks", "sums", "scores")), scores
    return float(timings["tasks"] if "tasks" in timings else timings["total"]), scores


def show() -> None:
    document = json.loads(RESULTS.read_text())
    if "workers" in document:
        print(f"the better of {TURNS} runs in turns; same bits on one worker, two, and threads")
        one, two = document["workers"]["products"]
        print(
            f"  matrix products in one process {one:.0f} GFLOP/s, in two {two:.0f} together: "
            f"{two / one:.2f} times as many"
        )
        for method in ("subsample", "lowrank"):
            row = document["workers"][method]
            print(
                f"  {method:<10} n = {row['n']:,}: one worker {row['one']:.1f} s, two workers "
                f"{row['two']:.1f} s, {row['one'] / row['two']:.2f} times as fast"
            )
    for row in document.get("estimates", {}).get("rows", []):
        where = f"{row['workers']} workers" if row["workers"] else "here"
        ratio = row["measured"] / row["estimate"]
        print(
            f"  n = {row['n']:>6,} {row['method']:<10} {where:<10} estimate "
            f"{row['estimate']:6.1f} s, measured {row['measured']:6.1f} s, {ratio:.2f}"
        )


def write(section: str, content: dict[str, Any]) -> None:
    document = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    origin = {"version": cgscore.__version__, **script_origin(__file__)}
    document[section] = {**origin, "cores": cores(), **content}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("what", nargs="?", choices=["workers", "estimates"])
    parser.add_argument("--show", action="store_true", help="print what was measured and stop")
    options = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if not options.show:
        require_quiet()
        if options.what == "workers":
            write("workers", two_against_one())
        elif options.what == "estimates":
            write("estimates", {"rows": estimates()})
        else:
            parser.error("say what to measure, or --show")
    show()


if __name__ == "__main__":
    main()
