"""Cells from files of results that an earlier version wrote."""

from __future__ import annotations

from typing import Any

from cgscore_paper.move_summaries import summary_value


def test_a_summary_from_files_of_results() -> None:
    ends = {"highest": {"rows": [1], "scores": [2.0]}, "lowest": {"rows": [3], "scores": [0.1]}}
    whole = {"examples": 9, "wrong": 3, "scores": {}, "density": {}}
    counts = {"wrong": {"positive": 2}, "right": {"positive": 1}}
    documents: dict[str, Any] = {
        "figure-3": {"whole": {"cifar-10": whole}},
        "appendix-b": {"counts": {"cifar-10": {"1:4, 2 runs": counts, "1:1, one run": {}}}},
        "appendix-c": {
            "shown": {"cifar-10": {"cat": ends}},
            "classes": {
                "cifar-10": {"names": ["dog", "cat"], "means": [1.0, 2.0], "deviations": [3.0, 4.0]}
            },
            "four_classes": {
                "cifar-10": {"from": 0, "to": 5, "classes": {"dog": {**ends, "density": [0.5]}}}
            },
        },
        "appendix-g": {
            "densities": {"cifar-10": {"before": {"from": 0}}},
            "detection": {"50%": {"cifar-10": {"whole": {"wrong": 5}}}},
        },
        "appendix-j": {
            "ratios": [1, 2],
            "runs": 2,
            "spearman": {"cifar-10": {"partial": [0.1, 0.2]}},
        },
        "table-1": {
            "what_it_depends_on": {"cifar-10": {"2 runs": {"cg": [0.3, 0.4]}, "1 run": {}}}
        },
    }
    value = summary_value(documents, "cifar-10", ("cat", "dog"))
    assert (value["examples"], value["runs"]) == (9, 2)
    assert value["rates"] == {
        "0": {"density": {"from": 0}},
        "20": {**whole, "counts": counts},
        "50": {"wrong": 5},
    }
    assert value["terms"] == {"1": {"partial": 0.1}, "2": {"partial": 0.2}}
    assert value["c_score"] == {"1": {"cg": 0.3}, "2": {"cg": 0.4}}
    assert value["classes"] == {"means": [2.0, 1.0], "deviations": [4.0, 3.0]}
    assert value["shown"] == {"0": ends, "1": ends}
    assert value["four_classes"] == {"from": 0, "to": 5, "densities": {"1": [0.5]}}
