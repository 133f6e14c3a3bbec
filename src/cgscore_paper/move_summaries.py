"""``python -m cgscore_paper.move_summaries RESULTS CELLS DATA``: cells from files of results.

The runs of the estimator for whole datasets that the preset desk made with cgscore 0.1 are not
kept, but what its files of results hold is as much as `whole.summary` stores, but for the scatter
of appendix B. They become cells, which say of which files they are; what the files do not say, such
as the machine, is not in them. So do the trials of table 1 and appendix J.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cgscore_paper.appendix_a import summary_cell as estimator_cell
from cgscore_paper.appendix_b import even_counts_cell
from cgscore_paper.appendix_c import FASHION
from cgscore_paper.appendix_j import ridges_cell
from cgscore_paper.cells import CellResult, Work, write_result
from cgscore_paper.datasets import SOURCES, load
from cgscore_paper.jobs import Cell
from cgscore_paper.plans import Plan
from cgscore_paper.table_1 import scalings_cell
from cgscore_paper.whole import summary_cell

FILES = (
    "appendix-a",
    "table-1",
    "figure-3",
    "appendix-b",
    "appendix-c",
    "appendix-d",
    "appendix-g",
    "appendix-j",
)
_RATE = "20"


def summary_value(
    documents: Mapping[str, Any], dataset: str, names: Sequence[str]
) -> dict[str, Any]:
    """What `whole.summary` returns of a dataset with these classes, from files of results."""
    detection = documents["appendix-g"]["detection"]
    by_estimate = documents["appendix-b"]["counts"][dataset]
    value: dict[str, Any] = {
        "examples": documents["figure-3"]["whole"][dataset]["examples"],
        "runs": documents["appendix-j"]["runs"],
        "rates": {
            "0": {"density": documents["appendix-g"]["densities"][dataset]["before"]},
            _RATE: {
                **documents["figure-3"]["whole"][dataset],
                "counts": next(iter(by_estimate.values())),
            },
            **{rate.rstrip("%"): of[dataset]["whole"] for rate, of in detection.items()},
        },
        "shown": _shown(documents["appendix-c"], dataset, names),
    }
    terms = documents["appendix-j"]["spearman"].get(dataset)
    if terms is not None:
        value["terms"] = {
            str(ratio): {term: terms[term][place] for term in terms}
            for place, ratio in enumerate(documents["appendix-j"]["ratios"])
        }
        depends = next(iter(documents["table-1"]["what_it_depends_on"][dataset].values()))
        value["c_score"] = {
            str(ratio): {by: depends[by][place] for by in depends}
            for place, ratio in enumerate(documents["appendix-j"]["ratios"])
        }
    return value | _classes(documents["appendix-c"], dataset, names)


def _shown(document: Mapping[str, Any], dataset: str, names: Sequence[str]) -> dict[str, Any]:
    shown = dict(document["shown"].get(dataset, {}))
    shown |= document["four_classes"].get(dataset, {}).get("classes", {})
    return {
        str(names.index(name)): {end: ends[end] for end in ("highest", "lowest")}
        for name, ends in shown.items()
    }


def _classes(document: Mapping[str, Any], dataset: str, names: Sequence[str]) -> dict[str, Any]:
    classes, four = document["classes"].get(dataset), document["four_classes"].get(dataset)
    if classes is None or four is None:
        return {}
    place = [classes["names"].index(name) for name in names]
    return {
        "classes": {key: [classes[key][i] for i in place] for key in ("means", "deviations")},
        "four_classes": {
            "from": four["from"],
            "to": four["to"],
            "densities": {
                str(names.index(name)): of["density"] for name, of in four["classes"].items()
            },
        },
    }


def moved_cells(folder: Path, data: Path, plan: Plan) -> dict[str, tuple[Cell, CellResult]]:
    """File of results -> a cell and its value."""
    documents = {
        name: json.loads((folder / f"{name}.json").read_text())["numbers"] for name in FILES
    }
    cells: dict[str, tuple[Cell, CellResult]] = {}
    for dataset in ("fashion-mnist", "cifar-10"):
        names = FASHION if dataset == "fashion-mnist" else load(data, dataset).names
        value = summary_value(documents, dataset, names)
        run = documents["appendix-d"]["full_size"][dataset]["shared_run"]
        cell = summary_cell(plan, dataset, value["runs"])
        cells[f"figure-3.json and others, {SOURCES[dataset].title}"] = (
            cell,
            CellResult(value, value["runs"] * run),
        )
    scalings = documents["table-1"]["scalings"]["cifar-10"]
    cells["table-1.json"] = (scalings_cell(plan, "cifar-10"), CellResult(scalings, 0.0))
    ridges = documents["table-1"]["ridges"]
    cells["table-1.json, ridges"] = (ridges_cell(plan), CellResult(ridges, 0.0))
    even = documents["appendix-b"]["counts"]["cifar-10"]["1:1, one run"]
    cells["appendix-b.json"] = (even_counts_cell(plan), CellResult(even, 0.0))
    cells["appendix-a.json and appendix-j.json"] = (
        estimator_cell(plan),
        CellResult(_estimator(documents), 0.0),
    )
    return cells


def _estimator(documents: Mapping[str, Any]) -> dict[str, Any]:
    """What `appendix_a.summary` returns."""
    of = documents["appendix-a"]
    ways = documents["appendix-j"]["by_runs"]["ways"]
    return {
        **{name: of[name] for name in ("examples", "runs", "correlations", "after_few_runs")},
        "terms": {way: terms for way, terms in ways.items() if "ridge" not in way},
    }


def main(folder: Path, cells: Path, data: Path) -> int:
    """Write the cells, and print their names."""
    work = Work(cells, data)
    cells.mkdir(parents=True, exist_ok=True)
    for file, (cell, result) in moved_cells(folder, data, Plan.named("desk")).items():
        origin = {"moved_from": f"{folder.as_posix()}/{file}"}
        write_result(cells, work.stem(cell), cell, result, "cgscore 0.1.0", origin)
        print(work.stem(cell))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:4])))
