"""Wrong labels: how many, which, and where they go."""

from __future__ import annotations

import numpy as np
import pytest

from cgscore.errors import OptionError
from cgscore_paper.noise import wrong_labels


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 0.8])
def test_exact_counts_balanced_over_classes(rate: float) -> None:
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 50))
    given = wrong_labels(codes, rate, 0)
    wrong = given != codes
    assert wrong.sum() == round(500 * rate)
    assert (np.bincount(codes[wrong], minlength=10) == round(50 * rate)).all()
    assert (np.bincount(given) == 50).all()  # as many come as go


def test_unequal_classes_lose_the_same_share() -> None:
    codes = np.repeat([0, 1, 2], [10, 35, 101])
    wrong = wrong_labels(codes, 0.2, 0) != codes
    assert np.bincount(codes[wrong]).tolist() == [2, 7, 20]


def test_all_others_get_as_many() -> None:
    """Of 4,000 wrong labels of a class of CIFAR-10, 444 or 445 go to each other class."""
    codes = np.repeat(np.arange(10), 5_000)
    given = wrong_labels(codes, 0.8, 3)
    moved = np.zeros((10, 10), int)
    np.add.at(moved, (codes, given), 1)
    assert (moved.diagonal() == 1_000).all()
    assert set(moved[~np.eye(10, dtype=bool)]) == {444, 445}
    assert (moved.sum(axis=0) == 5_000).all()


def test_two_classes_swap() -> None:
    codes = np.arange(40) % 2
    given = wrong_labels(codes, 0.5, 0)
    assert (given != codes).sum() == 20
    assert set(given) == {0, 1}


def test_the_seed_and_the_rate_decide() -> None:
    codes = np.arange(200) % 10
    before = codes.copy()
    first = wrong_labels(codes, 0.2, 0)
    np.testing.assert_array_equal(codes, before)
    np.testing.assert_array_equal(first, wrong_labels(codes, 0.2, 0))
    assert (first != wrong_labels(codes, 0.2, 1)).any()
    # the wrong ones of a lower rate are not simply a part of those of a higher one
    assert ((first != codes) & (wrong_labels(codes, 0.5, 0) == codes)).any()


@pytest.mark.parametrize("rate", [-0.1, 1.0, 20, float("nan")])
def test_rates_that_make_no_sense(rate: float) -> None:
    with pytest.raises(OptionError, match="from 0 to below 1"):
        wrong_labels(np.arange(10) % 2, rate, 0)
