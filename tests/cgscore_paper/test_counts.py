"""Appendix B, appendix D and what is beyond the paper."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore_paper import appendix_b, appendix_d, beyond, detection_curve, items
from cgscore_paper.cells import Work
from cgscore_paper.datasets import load
from cgscore_paper.noise import wrong_labels
from cgscore_paper.plans import Plan
from cgscore_paper.results import Written, rounded
from cgscore_paper.scores import estimated, shared_runs, subset
from cgscore_paper.trainings import WITHOUT_TRAINING


@pytest.fixture
def done(work: Work, plan: Plan, tmp_path: Path) -> Any:
    return lambda name: items.do(name, work, plan, tmp_path)


def check_files(done: Written, folder: Path) -> dict[str, Any]:
    """All files of an item are there, and the JSON file is small and holds the numbers."""
    for suffix in done.result.figures:
        for kind in ("png", "svg"):
            assert 5_000 < (folder / f"{done.name}{suffix}.{kind}").stat().st_size < 300_000
    assert done.result.text in (folder / f"{done.name}.md").read_text()
    text = (folder / f"{done.name}.json").read_text()
    assert len(text) < 60_000
    document: dict[str, Any] = json.loads(text)
    assert document["numbers"] == json.loads(json.dumps(rounded(done.result.numbers)))
    return document


def test_curves_of_a_perfect_a_useless_and_a_reversed_score() -> None:
    wrong = np.arange(200) < 40
    perfect = wrong + np.linspace(0.1, 0, 200)
    curve = detection_curve.found_shares(perfect, wrong)
    assert curve.shape == (101,)
    np.testing.assert_allclose(curve, np.minimum(np.arange(101) / 20, 1), atol=1e-12)
    assert (
        detection_curve.found_at_count(perfect, wrong) == detection_curve.auroc(perfect, wrong) == 1
    )
    assert detection_curve.average_precision(perfect, wrong) == pytest.approx(1)
    assert detection_curve.found_shares(-perfect, wrong)[80] == 0
    assert (
        detection_curve.found_at_count(-perfect, wrong)
        == detection_curve.auroc(-perfect, wrong)
        == 0
    )
    assert detection_curve.auroc(np.zeros(200), wrong) == 0.5
    assert detection_curve.average_precision(np.zeros(200), wrong) == pytest.approx(0.2)


def test_counts_add_up_and_tell_signs_apart() -> None:
    wrong = np.array([True, True, False, False, False])
    found = appendix_b.counts(np.array([3.0, -1.0, 2.0, -2.0, 1.0]), wrong)
    assert found["wrong"] == {"positive": 1, "negative": 1, "highest": 1}
    assert found["right"] == {"positive": 2, "negative": 1, "highest": 1}


def test_appendix_b(work: Work, plan: Plan, done: Any, tmp_path: Path) -> None:
    written = done("appendix-b")
    numbers, compared = written.result.numbers, written.result.compared
    check_files(written, tmp_path)
    paper = [11796 / 12000, 3462 / 48000, 10776 / 12000, 0.7146, 8331 / 40000, 0.5619]
    assert [one.paper for one in compared] == pytest.approx(paper)
    assert all(0 <= one.ours <= 1 for one in compared)
    assert all(one.cause for one in compared if one.what.startswith("CIFAR-10"))
    for name, windows in numbers["windows"].items():
        assert windows["examples"] == 200
        assert np.shape(windows["accuracy"]) == (2, plan.appendix_repeats), name
        # both halves together hold every example once, a fifth of them wrong
        assert np.mean(windows["wrong"]) == pytest.approx(0.2)
        assert windows["wrong"][0] < windows["wrong"][1]
    for name, kinds in numbers["counts"].items():
        assert list(kinds) == (
            ["1:3, 2 runs"] if name == "fashion-mnist" else ["1:4, 2 runs", "1:1, one run"]
        )
        for found in kinds.values():
            for group, count in (("wrong", 60), ("right", 240)):
                assert found[group]["positive"] + found[group]["negative"] == count
            assert found["wrong"]["highest"] + found["right"]["highest"] == 60
    codes = load(work.data, "cifar-10").codes
    wrong = wrong_labels(codes, 0.2, plan.seed) != codes
    partial = estimated(work, shared_runs(plan, "cifar-10"), rate=0.2)["partial"]
    assert numbers["counts"]["cifar-10"]["1:4, 2 runs"]["wrong"]["positive"] == (
        (partial[wrong] > 0).sum()
    )
    assert compared[3].ours == pytest.approx((partial[wrong] > 0).mean())
    assert "200 examples" in written.result.figures[""][1]


def test_more_others_make_more_partial_scores_positive(work: Work, plan: Plan) -> None:
    even = work(appendix_b.even_cell(plan, "cifar-10"))["partial"]
    many = estimated(work, shared_runs(plan, "cifar-10"), rate=0.2)["partial"]
    assert np.isfinite(even).all()
    assert (even > 0).mean() < (many > 0).mean()


def test_appendix_d(work: Work, plan: Plan, done: Any, tmp_path: Path) -> None:
    written = done("appendix-d")
    document = check_files(written, tmp_path)
    numbers = document["numbers"]
    assert list(numbers["seconds"]) == ["fashion-mnist", "cifar-10"]
    fashion, cifar = numbers["seconds"].values()
    assert set(cifar) - set(fashion) == {"cg-4"}
    assert set(cifar) == set(appendix_d.ROWS)
    assert all(one > 0 for seconds in (fashion, cifar) for one in seconds.values())
    assert numbers["sizes"]["cifar-10"] == {"examples": 200, "whole": 300}
    full = numbers["full_size"]["cifar-10"]
    assert full["exact_estimated"] == pytest.approx(cifar["exact"] * 1.5**3, rel=1e-4)
    assert document["not_run"] == ["CIFAR-100: there is no CIFAR-100 in cifar100/ of the data"]
    assert document["compared"] == []
    assert "| EL2N |" in written.result.text
    assert "| 370 | 1.00 |" in written.result.text
    assert "4,388" in written.result.text


def test_training_for_el2n_stops_early(
    work: Work, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cgscore.training import shared_runs as scores
    from cgscore.training.loop import trainer

    stopped = []

    def train(*given: Any, **options: Any) -> Any:
        stopped.append(options["until"])
        return trainer.train(*given, **options)

    monkeypatch.setattr(scores, "train", train)
    early = replace(plan, score_training=replace(plan.score_training, epochs=3))  # type: ignore[type-var]
    assert early.scoring("cifar-10").early == 2
    _, images = subset(early, work, "cifar-10")
    timers = appendix_d._timers(work, early, "cifar-10", images)
    timers["el2n"]()
    timers["forgetting"]()
    assert stopped == [2, 3]


def test_full_size_seconds_are_those_of_cells_that_were_run(
    work: Work, plan: Plan, tmp_path: Path
) -> None:
    cells = shared_runs(plan, "cifar-10")
    seconds = [one.seconds for one in work.all(cells)]
    sizes = {"examples": 300, "whole": 300}
    found = appendix_d._full_size(work, plan, "cifar-10", {"exact": 1.0}, sizes)
    assert found == {"shared_run": pytest.approx(np.mean(seconds))}
    elsewhere = Work(tmp_path, work.data)
    assert appendix_d._full_size(elsewhere, plan, "cifar-10", {"exact": 1.0}, sizes) == {}
    assert list(tmp_path.iterdir()) == []  # nothing was run


@pytest.mark.filterwarnings("ignore:What the other examples predict")  # with 80 % wrong labels
def test_beyond(
    work: Work, plan: Plan, done: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beyond, "DATASETS", ("cifar-10",))  # half the trainings
    written = done("beyond")
    numbers = check_files(written, tmp_path)["numbers"]
    for name in beyond.DATASETS:
        for rate, found in numbers["detection"][name].items():
            assert set(found["scores"]) == set(WITHOUT_TRAINING)
            for one in found["scores"].values():
                assert len(one["curve"]) == 21
                assert one["curve"][0] == 0
                assert one["curve"][-1] == 1
                assert one["curve"] == sorted(one["curve"])
                # the point of the curve at the share of wrong labels is what is found there
                assert one["curve"][int(rate) // 5] == pytest.approx(one["found"], abs=1e-5)
            flagged = found["flagged"]
            assert flagged["wrong"] == 2 * int(rate)
            hits = flagged["recall"] * flagged["wrong"]
            if flagged["count"]:
                assert flagged["precision"] * flagged["count"] == pytest.approx(hits, abs=1e-3)
        exact = numbers["detection"][name]["20"]["scores"]["exact_cg"]["auroc"]
        nearly = numbers["detection"][name]["20"]["scores"]["iterative_cg"]["auroc"]
        assert exact == pytest.approx(nearly, abs=0.02)
        assert numbers["detection"][name]["20"]["scores"]["posterior"]["auroc"] > 0.8
        pruned = numbers["pruning"][name]
        for panel, (_, _, scores) in beyond.PRUNED.items():
            assert set(pruned[panel]) == {*scores, "random", "full"}
            assert all(len(pruned[panel][by]["0.6"]) == 1 for by in (*scores, "random"))
        assert pruned["low"]["full"] == pruned["high"]["full"]
    assert all("Beyond the paper" in caption for _, caption in written.result.figures.values())
    assert plan.description in written.result.figures["-2"][1]
    assert written.result.compared == ()
