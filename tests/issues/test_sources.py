"""Rates of wrong labels of sources: against binomial posteriors, and with known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln
from sklearn.datasets import load_digits

import cgscore
from cgscore.issues import sources
from cgscore.issues.sources import source_rates, source_table
from tests.issues.examples import flipped


def certain(counts: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Codes and certain verdicts of sources with so many wrong labels of so many."""
    codes = np.repeat(np.arange(len(counts)), [n for _, n in counts])
    wrong = np.concatenate([np.arange(n) < w for w, n in counts]).astype(float)
    return codes, wrong


def test_certain_verdicts_give_the_posterior_of_counts() -> None:
    counts = [(2, 100), (30, 100), (1, 5), (4, 200)]
    rates = source_rates(*certain(counts), len(counts))
    # the same by brute force: beta priors of all means and concentrations, weighed by evidence
    expected, weights = [], []
    grid = sources.RATES
    for mean in sources.MEANS:
        for concentration in sources.CONCENTRATIONS:
            a, b = mean * concentration, (1 - mean) * concentration
            prior = grid ** (a - 1) * (1 - grid) ** (b - 1) / np.exp(betaln(a, b))
            prior /= prior.sum()
            joint = [prior * grid**w * (1 - grid) ** (n - w) for w, n in counts]
            weights.append(np.prod([part.sum() for part in joint]))
            expected.append([part @ grid / part.sum() for part in joint])
    np.testing.assert_allclose(rates.rate, np.average(expected, axis=0, weights=weights), rtol=2e-3)
    assert (rates.low < rates.rate).all()
    assert (rates.rate < rates.high).all()


def test_small_sources_borrow_from_the_others() -> None:
    counts = [(8, 200), (10, 200), (9, 200), (3, 3), (1500, 3000)]
    rates = source_rates(*certain(counts), len(counts))
    assert rates.rate[4] == pytest.approx(0.5, abs=0.01)
    assert 0.04 < rates.rate[3] < 0.98  # three of three wrong labels are not 100 %
    assert rates.high[3] - rates.low[3] > 10 * (rates.high[4] - rates.low[4])


def test_sources_that_differ() -> None:
    names = np.repeat(np.array(["a", "b", None, "d"], dtype=object), 100)
    _, wrong = certain([(5, 100), (5, 100), (40, 100), (5, 100)])
    table = source_table(names, wrong, wrong > 0.5).set_index("source")
    assert table.index[0] is None
    assert table["differs"].tolist() == ["more", "fewer", "fewer", "fewer"]
    assert table["flagged"].tolist() == [40, 5, 5, 5]
    same = source_table(np.repeat(list("abcd"), 100), np.tile(wrong[:100], 4), wrong > 0.5)
    assert set(same["differs"]) == {""}
    alone = source_table(np.zeros(400), wrong, wrong > 0.5)
    assert alone["differs"].tolist() == [""]


def test_labels_that_are_not_judged_do_not_count() -> None:
    codes, wrong = certain([(5, 100), (40, 100)])
    table = source_table(codes, wrong, wrong > 0.5)
    more = np.append(codes, np.full(50, 1)), np.append(wrong, np.full(50, np.nan))
    padded = source_table(*more, np.append(wrong > 0.5, np.zeros(50, bool)))
    np.testing.assert_allclose(padded["rate"], table["rate"])
    assert padded["examples"].tolist() == [150, 100]


def test_the_error_of_the_total_widens_the_intervals() -> None:
    codes, wrong = certain([(20, 200), (60, 200)])
    narrow = source_rates(codes, wrong, 2)
    wide = source_rates(codes, wrong, 2, (0.2, 0.4))
    np.testing.assert_allclose(
        wide.high - wide.rate, np.hypot(narrow.high - narrow.rate, 0.4 * narrow.rate)
    )
    np.testing.assert_allclose(
        wide.rate - wide.low, np.hypot(narrow.rate - narrow.low, 0.2 * narrow.rate)
    )


def test_a_careless_source_of_digits_is_named() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:800], y[:800]
    rng = np.random.default_rng(0)
    source = rng.choice(list("abcde"), 800)
    z = np.where(source == "c", flipped(y, 0.4, 10), y)
    table = cgscore.score(X, z, ridge="auto", source_column=source).sources()
    assert table["source"][0] == "c"
    assert table["differs"].tolist()[0] == "more"
    actual = (z != y)[source == "c"].mean()
    assert table["low"][0] < actual < table["high"][0]
    assert table["rate"][0] == pytest.approx(actual, abs=0.06)
    assert (table["rate"][1:] < 0.05).all()
