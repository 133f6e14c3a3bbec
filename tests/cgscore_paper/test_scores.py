"""Scores of whole datasets without training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cgscore_paper import scores
from cgscore_paper.cells import Work
from cgscore_paper.datasets import Images, load
from cgscore_paper.jobs import Job


def test_originals_are_the_first_of_equal_rows() -> None:
    rows = np.random.default_rng(0).integers(0, 3, (40, 2)).astype(float)
    kept, place = scores.originals(rows)
    assert (rows[kept][place] == rows).all()
    assert len(kept) == len(np.unique(rows, axis=0))
    assert all((rows[:position] != rows[position]).any(axis=1).all() for position in kept)


@pytest.mark.parametrize("job", [scores.shared_run, scores.augmented_run])
def test_a_copy_has_the_terms_of_its_original(
    job: Job, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = load(work.data, "cifar-10")
    rows = np.append(np.arange(len(images)), 7)
    twice = Images(images.X[rows], images.codes[rows], images.names)
    monkeypatch.setattr(Images, "augmented", lambda self, rng: self)
    options = {"standardised": True} if job is scores.shared_run else {}
    single = job(work, dataset="cifar-10", seed=0, run=0, **options)
    monkeypatch.setattr(scores, "load", lambda folder, dataset: twice)
    double = job(work, dataset="cifar-10", seed=0, run=0, **options)
    for name in ("partial-0-4", "cg_prime-0-1"):
        assert len(double[name]) == len(rows)
        assert double[name][-1] == double[name][7]
        # one more image moves the mean of a channel, and nothing else
        assert np.corrcoef(double[name][:-1], single[name])[0, 1] > 0.999
