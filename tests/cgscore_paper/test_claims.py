"""Verdicts on the paper's claims follow from numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cgscore_paper import appendix_a, appendix_b, appendix_e, appendix_j, figure_2, table_1
from cgscore_paper.cells import Work
from cgscore_paper.claim_list import above, all_claims
from cgscore_paper.claims import (
    FAILS,
    HOLDS,
    IN_PART,
    UNDECIDED,
    Claim,
    claims_table,
    count_sentence,
    judged,
    measured_claim,
    number_claim,
    number_sentence,
)
from cgscore_paper.items import do_all
from cgscore_paper.plans import Plan
from cgscore_paper.results import NOT_TESTED, Compared


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([True, True], HOLDS),
        ([True, None], IN_PART),
        ([True, False], IN_PART),
        ([False, False], FAILS),
        ([None, False], FAILS),
        ([None, None], NOT_TESTED),
    ],
)
def test_verdicts(parts: list[bool | None], verdict: str) -> None:
    assert judged(parts) == verdict


def test_numbers_are_counted_with_those_that_are_missing() -> None:
    compared = [
        Compared("a", 0.5, 0.51, size="10"),
        Compared("b", 0.5, 0.6, size="10"),
        Compared("c", 0.5, None),
    ]
    claim = number_claim("numbers", "table", compared)
    assert claim.verdict == IN_PART
    assert claim.ours == "1 of 2 within 0.03, the furthest 0.100 apart; 1 not tested"
    assert claim.paper == "3 numbers"
    text = number_sentence({"table-1": ({}, compared)})
    assert "prints 3 numbers" in text
    assert "2 are tested: 1 are within 0.03" in text
    assert "0 are explained by a run and 1 are unexplained. 1 are not tested." in text


def test_a_missing_number_is_not_tested_and_a_wrong_verdict_is_an_error() -> None:
    def missing() -> Any:
        numbers: dict[str, Any] = {}
        return numbers["nothing"]

    assert measured_claim("a", "b", "c", missing) == Claim("a", "b", "c")
    with pytest.raises(ValueError, match="verdict"):
        Claim("a", "b", "c", verdict="perhaps")


def numbers(cg: float, random: float) -> dict[str, Any]:
    """Figure 2 with 40 % of CIFAR-10 removed, everything else unfinished."""

    def line(value: float | None) -> dict[str, Any]:
        each = [[0.9], [] if value is None else [value]]  # one training
        return {"mean": [0.9, value], "each": each, "overall": value, "lasting": 0.0}

    return {
        "cifar-10": {
            "examples": 50_000,
            "removed": [0.0, 0.4],
            "full": {"mean": [0.9], "each": [[0.9]]},
            "low-first": {"exact_cg": line(cg), "random": line(random), "el2n": line(None)},
            "high-first": {"exact_cg": line(None), "random": line(random)},
        }
    }


@pytest.mark.parametrize(
    ("cg", "random", "verdicts"),
    [
        (0.899, 0.89, (HOLDS, IN_PART)),
        (0.88, 0.89, (FAILS, FAILS)),
        (0.892, 0.8905, (UNDECIDED, UNDECIDED)),  # one training each cannot tell
    ],
)
def test_figure_2(cg: float, random: float, verdicts: tuple[str, str]) -> None:
    claims = {one.claim: one for one in all_claims({"figure-2": (numbers(cg, random), ())})}
    harmless = claims["40 % of CIFAR-10, lowest CG first, can go"]
    assert harmless.verdict == verdicts[0]
    assert f"{cg:.4f} against 0.9000" in harmless.ours
    better = claims["Pruning low CG first is better than at random"]
    assert better.verdict == verdicts[1]  # of one dataset out of three
    assert f"{cg - random:+.4f}" in better.ours
    others = {one.verdict for one in claims.values() if one not in (harmless, better)}
    assert others == {NOT_TESTED}


def test_without_numbers_nothing_is_tested() -> None:
    claims = all_claims({})
    assert {(one.verdict, one.ours, one.size) for one in claims} == {(NOT_TESTED, "", "")}


def test_accuracies_differ_by_two_standard_errors() -> None:
    assert above([0.9, 0.91, 0.92], [0.8, 0.81, 0.82])
    assert above([0.9, 0.91, 0.92], [0.905, 0.9, 0.91]) is None  # within errors
    assert above([0.8, 0.81, 0.82], [0.9, 0.91, 0.92]) is False
    assert above([0.9, 0.91, 0.92], [0.905, 0.9, 0.91], -0.05)
    assert above([0.9], [0.8, 0.81])
    assert above([0.9], [0.903]) is None


def test_the_paper_prints_53_numbers() -> None:
    table = sum(len(row) for of in table_1.PAPER.values() for row in of.values())
    terms = sum(len(term) for of in appendix_j.PAPER.values() for term in of.values())
    estimator = sum(len(kind) for kind in appendix_a.PAPER.values())
    counts = 3 * len(appendix_b.PAPER)
    shares = len(figure_2.PAPER) + len([appendix_e.PAPER_SHARE])
    assert table + terms + estimator + counts + shares == 53


def test_a_page_of_nothing_is_not_tested(data: Path, tmp_path: Path) -> None:
    plan = Plan.named("full")
    work = Work(tmp_path / "cells", data)
    written = do_all(work, plan, tmp_path / "out", tmp_path / "reproduction.md")
    text = (tmp_path / "reproduction.md").read_text()
    assert not (tmp_path / "cells").exists()  # nothing was computed
    assert "beyond" not in [item.name for item in written]
    assert "The paper prints 53 numbers that can be compared" in text
    assert "0 are tested" in text
    assert ", 0 hold in part, 0 do not hold, " in text
    assert not list((tmp_path / "out").glob("*.png"))


def test_the_table_counts_its_verdicts() -> None:
    claims = [Claim("a", "b", "c", "d", "e", HOLDS), Claim("f", "g", "h")]
    assert "| a | b | c | d | e | **holds** |" in claims_table(claims)
    assert count_sentence(claims) == (
        "2 claims: 1 holds, 0 hold in part, 0 do not hold, 0 undecided, 1 not tested."
    )
