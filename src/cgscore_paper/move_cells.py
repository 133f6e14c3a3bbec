"""``python -m cgscore_paper.move_cells OLD NEW``: cells of cgscore 0.1 under their present names.

Up to then a cell was named after the path of its function, the version of cgscore, the options and
the plan. Every cell of the folder OLD that is intact, and whose plan had the present sizes, is
written to the folder NEW without being computed again. OLD stays as it is.

``--exact results/exact NEW DATA`` makes cells of the exact scores of whole datasets there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from cgscore_paper.cells import CellResult, Work, read_record, read_result, write_result
from cgscore_paper.datasets import SOURCES, missing
from cgscore_paper.jobs import Cell, all_jobs
from cgscore_paper.scores import exact_cell

#: Path of a function -> name of the job that it is now.
FORMER_NAMES = {
    "appendix_a.exact": "estimator.exact",
    "appendix_a.own_draws": "estimator.separate_draws",
    "appendix_a.shared_draws": "estimator.shared_draws",
    "appendix_b.even_run": "scores.even_run",
    "appendix_d.timed": "seconds",
    "appendix_j.ridges": "estimator.ridges",
    "figure_1.gaussians": "gaussians",
    "networks.pretrained": "trained.vision_transformer",
    "scored.shared_run": "scores.shared_run",
    "scored.subset_scores": "scores.subset",
    "table_1.scalings": "estimator.scalings",
    "theorem_1.check": "theorem_1.check",
    "theorem_1.velocities": "theorem_1.velocities",
    "trained.accuracy": "trained.accuracy",
    "trained.along": "trained.epochs",
    "trained.examples": "trained.examples",
    "trained.scoring_run": "trained.scores",
}

_SETTINGS = (
    "Settings(epochs={}, learning_rate={}, batch_size={}, optimiser='sgd', momentum=0.9, "
    "weight_decay=0.0005, schedule='cosine', augment={})"
)
_DESK = (
    "Preset(model='resnet18', settings={}, width=8, examples=8000, runs=2, early=2, "
    "tracin_every=2, validation=1000, feature_epoch=1, reselect_every=1, "
    "ratios=(0.25, 0.5, 0.75), subsets=5)"
)
_PAPER = (
    "Preset(model='{}', settings={}, width=None, examples=None, runs=5, early=20, "
    "tracin_every=20, validation=1000, feature_epoch=10, reselect_every=10, "
    "ratios=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), subsets=10)"
)


def former_sizes(plan: str) -> str:
    """The text of the sizes of a plan that was part of a name; empty for no plan."""
    if plan == "desk":
        scoring, pruning = (
            _DESK.format(_SETTINGS.format(epochs, 0.1, 64, False)) for epochs in (10, 3)
        )
        pairs = [f"({scoring}, {pruning})"] * 3
        return f"(10, 8000, True, 50, [{', '.join(pairs)}])"
    if plan == "paper":
        presets = [
            _PAPER.format(model, _SETTINGS.format(epochs, rate, 128, True))
            for model, epochs, rate in (
                ("resnet18", 100, 0.02),
                ("resnet18", 200, 0.05),
                ("resnet50", 200, 0.1),
            )
        ]
        pairs = [f"({preset}, {preset})" for preset in presets]
        return f"(10, None, False, 125, [{', '.join(pairs)}])"
    return ""


def former_name(function: str, version: str, options: dict[str, Any]) -> str:
    """The name of a cell, without the fingerprint of the data."""
    sizes = former_sizes(str(options.get("plan", "")))
    key = json.dumps([function, version, options, sizes], sort_keys=True)
    return f"{function.replace('.', '-')}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def move(old: Path, new: Path) -> tuple[list[str], list[str]]:
    """Names of the cells that were written to `new`, and of those in `old` that were not."""
    jobs = all_jobs()
    moved, skipped = [], []
    new.mkdir(parents=True, exist_ok=True)
    for path in sorted(old.glob("*.json")):
        record, result = read_record(path), read_result(old, path.stem)
        name, _, fingerprint = path.stem.rpartition("-")
        if (
            record is None
            or result is None
            or record.get("function") not in FORMER_NAMES
            or former_name(record["function"], record["version"], record["options"]) != name
        ):
            skipped.append(path.stem)
            continue
        job = jobs[FORMER_NAMES[record["function"]]]
        if job.version != 1:  # its results have changed since
            skipped.append(path.stem)
            continue
        cell = Cell(job, record["options"])
        stem = f"{cell.name}-{fingerprint}"
        origin = {"moved_from": path.stem}
        write_result(new, stem, cell, result, f"cgscore {record['version']}", origin)
        if job.name == "trained.vision_transformer":  # its weights are a folder beside the cell
            shutil.copytree(old / result["folder"], new / result["folder"], dirs_exist_ok=True)
        moved.append(stem)
    return moved, skipped


def from_exact_results(tables: Path, work: Work) -> list[str]:
    """Cells of exact scores from the tables that ``bench/whole.py`` wrote, where there are any."""
    from pyarrow import parquet

    written = []
    for dataset, source in SOURCES.items():
        path = tables / f"{source.folder}.parquet"
        if not path.is_file() or missing(work.data, dataset):
            continue
        table = parquet.read_table(path)
        about = json.loads(table.schema.metadata[b"cgscore"])
        columns = {name: table[name].to_numpy() for name in ("cg", "partial", "margin")}
        cell = exact_cell(dataset)
        result = CellResult(columns, float(about["wall_seconds"]))
        version, origin = f"cgscore {about['version']}", {"moved_from": path.name}
        write_result(work.folder, work.stem(cell), cell, result, version, origin)
        written.append(work.stem(cell))
    return written


def main(arguments: list[str]) -> int:
    """Move cells and print how many there were."""
    if len(arguments) == 4 and arguments[0] == "--exact":
        tables, new, data = map(Path, arguments[1:])
        print(*from_exact_results(tables, Work(new, data)), sep="\n")
        return 0
    if len(arguments) != 2:
        print("Usage: python -m cgscore_paper.move_cells OLD NEW | --exact TABLES NEW DATA")
        return 2
    old, new = map(Path, arguments)
    if not old.is_dir():
        print(f"OLD must be a folder of cells; there is no folder {old}.")
        return 2
    moved, skipped = move(old, new)
    print(f"{len(moved)} cells moved to {new}.")
    for name in skipped:
        print(f"Not moved, as it is damaged or has other settings: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
