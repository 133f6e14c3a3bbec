"""Inputs of ImageNet's size, streamed from disk on one machine, killed twice on the way.

::

    python bench/million.py FOLDER                     # 1,281,167 x 2,048 numbers, 10.5 GB
    python bench/million.py FOLDER --rows 128000       # the same, smaller: written nowhere
    python bench/million.py FOLDER --rows 128000 --same  # also without kills, bit for bit
    python bench/million.py --show

The inputs are made from a seed and kept in FOLDER: 1,000 classes of equal spread around random
centres; one label in ten is replaced by another class at random. With the spread of 8 the nearest
mean of a class is the right one for 99 % of the examples, which no method exceeds.
``cgscore.score`` runs in a process of its own with a checkpoint and a memory limit; it is killed
with SIGKILL after some minutes, as often as ``--kills`` says, and started again until it ends.
Seconds are those of all attempts together. Results are written to results/million.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from exact import products
from lowrank import auroc, clusters, fill, precision_of_worst, replaced

import cgscore
from cgscore.execution.machine import peak_memory
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

RESULTS = Path(__file__).parents[1] / "results" / "million.json"
ROWS, COLUMNS, CLASSES = 1_281_167, 2048, 1000
SHARE_REPLACED = 0.1


def made(folder: Path, n: int, spread: float) -> tuple[Any, Any, Any]:
    """Mapped inputs, labels, and which of them are wrong."""
    centres, codes = clusters(n, COLUMNS, CLASSES, 0)
    path = folder / f"inputs-{n}-{spread:g}.npy"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        shape = (n, COLUMNS)
        X = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.float32, shape=shape)
        fill(X, centres, codes, 0, spread)
        X.flush()
        del X
        unfinished.rename(path)
    codes, wrong = replaced(codes, CLASSES, SHARE_REPLACED)
    return np.load(path, mmap_mode="r"), codes, wrong


def work(options: argparse.Namespace) -> None:
    """One attempt: figures and digests of the arrays, as JSON."""
    X, codes, wrong = made(options.folder, options.rows, options.spread)
    start = time.perf_counter()
    scores = cgscore.score(
        X,
        codes,
        method="lowrank",
        ridge="auto",
        landmarks=options.landmarks,
        memory_limit=options.memory_limit,
        checkpoint=None if options.checkpoint is None else str(options.checkpoint),
        progress=False,
    )
    scored = time.perf_counter() - start
    issues, summary = scores.label_issues(), scores.issue_summary()
    flagged = issues["is_label_issue"].to_numpy()
    margin = scores.table["margin"].to_numpy()
    columns = {name: scores.table[name].to_numpy() for name in ("cg", "margin")} | {"d": scores.d}
    document = {
        "landmarks": scores.meta["landmarks"],
        "ridge": scores.meta["ridge"],
        "last_attempt_seconds": scored,
        "judging_seconds": time.perf_counter() - start - scored,
        "timings": scores.meta["timings"],
        "peak_bytes": peak_memory(),
        "accuracy": scores.accuracy(),
        "auroc": auroc(margin, wrong),
        "precision_of_worst": precision_of_worst(margin, wrong),
        "wrong": int(wrong.sum()),
        "estimated_wrong": summary.estimated_wrong,
        "flagged": int(flagged.sum()),
        "precision": float(wrong[flagged].mean()) if flagged.any() else None,
        "recall": float(flagged[wrong].mean()),
        "digests": {
            name: hashlib.sha256(values.tobytes()).hexdigest() for name, values in columns.items()
        },
    }
    options.output.write_text(json.dumps(document))


def attempts(options: argparse.Namespace, kills: list[float], checkpoint: bool) -> dict[str, Any]:
    """Figures of a run that is killed after these many seconds of an attempt."""
    output = options.folder / "figures.json"
    folder = options.folder / "checkpoint"
    shutil.rmtree(folder, ignore_errors=True)
    output.unlink(missing_ok=True)
    command = [sys.executable, __file__, str(options.folder), "--work"]
    command += ["--rows", str(options.rows), "--spread", str(options.spread)]
    command += ["--landmarks", str(options.landmarks), "--memory-limit", options.memory_limit]
    command += ["--output", str(output)]
    command += ["--checkpoint", str(folder)] if checkpoint else []
    start, killed = time.perf_counter(), []
    for seconds in [*kills, None]:
        process = subprocess.Popen(command)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed.append(seconds)
            print(f"killed after {seconds:.0f} s", flush=True)
            continue
        if status:
            sys.exit(f"An attempt ended with status {status}.")
        break
    seconds = time.perf_counter() - start
    figures: dict[str, Any] = json.loads(output.read_text())
    return {"seconds": seconds, "killed_after": killed, **figures}


def show(document: dict[str, Any]) -> None:
    print(
        f"{document['n']:,} x {document['p']:,} float32, {document['classes']:,} classes, "
        f"{document['landmarks']:,} landmarks, memory limit {document['memory_limit']}"
    )
    print(
        f"  {document['seconds'] / 60:.1f} minutes in all, killed after "
        f"{document['killed_after']} s, peak {document['peak_bytes'] / 1e9:.1f} GB; matrix "
        f"products {document['dgemm_gflops']} GFLOP/s before and after"
    )
    print(
        f"  leave-one-out accuracy {document['accuracy']:.3f}; AUROC {document['auroc']:.4f}; "
        f"among the {document['wrong']:,} lowest margins {document['precision_of_worst']:.3f} wrong"
    )
    print(
        f"  flagged {document['flagged']:,}: precision {document['precision']:.3f}, recall "
        f"{document['recall']:.3f}; estimated {document['estimated_wrong']:,.0f} wrong"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--spread", type=float, default=8.0)
    parser.add_argument("--landmarks", type=int, default=4000)
    parser.add_argument("--memory-limit", default="16GB")
    parser.add_argument("--kills", nargs="*", type=float, default=[600.0, 600.0])
    parser.add_argument("--same", action="store_true", help="compare with a run without kills")
    parser.add_argument("--show", action="store_true", help="print what was measured and stop")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--checkpoint", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.show:
        show(json.loads(RESULTS.read_text()))
        return
    if options.folder is None:
        parser.error("a folder with room for the inputs is needed")
    if options.work:
        work(options)
        return
    require_quiet()
    options.folder.mkdir(parents=True, exist_ok=True)
    made(options.folder, options.rows, options.spread)
    rates = [speed()]
    figures = attempts(options, options.kills, checkpoint=True)
    rates.append(speed())
    document = {
        "version": cgscore.__version__,
        **script_origin(__file__),
        "n": options.rows,
        "p": COLUMNS,
        "classes": CLASSES,
        "spread": options.spread,
        "share_replaced": SHARE_REPLACED,
        "memory_limit": options.memory_limit,
        "dgemm_gflops": rates,
        **figures,
    }
    show(document)
    if options.same:
        other = attempts(options, [], checkpoint=False)
        print(f"without kills {other['seconds']:.0f} s; same bits: ", end="")
        print(other["digests"] == figures["digests"])
    if options.rows == ROWS:
        RESULTS.write_text(json.dumps(document, indent=1) + "\n")


def speed() -> float:
    """GFLOP/s of large matrix products."""
    return round(2 * 4 * 3000**3 / products(count=4) / 1e9, 1)


if __name__ == "__main__":
    main()
