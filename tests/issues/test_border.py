"""Wrong labels that follow the borders between classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgscore.issues.border import (
    Hypotheses,
    Hypothesis,
    carelessness,
    direction,
    noise_odds,
)
from cgscore.issues.calibration import Calibration
from cgscore.issues.noise_model import NoiseModel, estimate_noise
from cgscore.issues.verdicts import expected_wrong, flag, judge, promised
from tests.issues.examples import f1, flipped


def test_the_joint_probability_against_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    logits, codes = rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    odds = rng.uniform(0.05, 0.9, (4, 4))
    np.fill_diagonal(odds, 1)
    found = Hypothesis(0.4, odds, 1.7).joint(logits, codes)
    for i, j in enumerate(codes):
        q = np.exp(1.7 * logits[i]) / np.exp(1.7 * logits[i]).sum()
        for c in range(4):
            label = odds[c] * q**0.4
            assert found[i, c] == pytest.approx(q[c] * label[j] / label.sum())


def test_strength_0_is_the_noise_matrix() -> None:
    rng = np.random.default_rng(1)
    logits, codes = rng.standard_normal((20, 3)), rng.integers(0, 3, 20)
    T = rng.dirichlet(np.ones(3), 3)
    q = Calibration(1.0).probabilities(logits)
    found = Hypothesis(0.0, noise_odds(T), 1.0).joint(logits, codes)
    np.testing.assert_allclose(found, q * T[:, codes].T)
    nearly = Hypothesis(1e-9, noise_odds(T), 1.0).joint(logits, codes)
    np.testing.assert_allclose(nearly, found, rtol=1e-6)


@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_the_direction_of_wrong_labels(slope: float) -> None:
    rng = np.random.default_rng(2)
    log_q = rng.standard_normal((4000, 5)) * 2
    predicted = log_q.argmax(axis=1)
    chance = np.exp(slope * log_q)
    chance[np.arange(4000), predicted] = 0
    chance /= chance.sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(5, p=row) for row in chance])
    codes[2000:] = predicted[2000:]  # right labels say nothing
    assert slope - 0.15 < direction(log_q, predicted, codes) < slope
    assert np.isnan(direction(log_q, predicted, predicted))
    assert np.isnan(direction(log_q[:, :2], predicted, codes))


def contested(seed: int = 0, n: int = 3000, k: int = 6) -> tuple[Any, Any, Any]:
    """Predictions, true labels, and labels of which many are wrong where classes meet."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    second = (y + rng.integers(1, k, n)) % k
    mix = rng.beta(1, 4, n)[:, None] / 2
    F = 2 * ((1 - mix) * np.eye(k)[y] + mix * np.eye(k)[second]) - 1
    F += 0.12 * rng.standard_normal((n, k))
    hit = rng.random(n) < 0.04 + 0.9 * mix[:, 0]
    return F, y, np.where(hit, second, y)


def test_labels_are_careless_by_degrees() -> None:
    found = [carelessness(share, contested=False) for share in (0.5, 0.7, 0.75, 0.8, 0.95)]
    assert found == pytest.approx([1, 1, 0.5, 0, 0])
    assert [carelessness(share, contested=True) for share in (0.69, 0.71)] == [1, 0]


def test_noise_at_borders_is_found_and_admitted() -> None:
    F, y, z = contested()
    noise = estimate_noise(F, z)
    assert noise.contested
    verdicts = judge(F, z, noise)
    alone = verdicts.right_by_hypothesis[0]
    assert f1(y != z, flag(verdicts.right)) > f1(y != z, flag(alone)) + 0.05
    expected, low, high = expected_wrong(verdicts, noise)
    assert low <= (y != z).sum() <= high
    assert low < expected < high
    assert not promised(verdicts, noise, 0.9, np.ones(len(z), bool)).any()
    assert (verdicts.other != z).all()


def test_noise_everywhere_is_no_noise_at_borders() -> None:
    F, y, _ = contested()
    z = flipped(y, 0.2, 6)
    noise = estimate_noise(F, z)
    assert not noise.contested
    assert noise.hypotheses[0].weight > 0.8
    assert sum(each.weight for each in noise.hypotheses) == pytest.approx(1)
    verdicts = judge(F, z, noise)
    chosen = promised(verdicts, noise, 0.9, np.ones(len(z), bool))
    assert np.mean((y != z)[chosen]) >= 0.9
    assert (chosen & (y != z)).sum() > 0.8 * (y != z).sum()


def upper_end(F: Any, z: Any, noise: NoiseModel) -> float:
    """Of the number of wrong labels, for each label that differs from its prediction."""
    verdicts = judge(F, z, noise)
    return expected_wrong(verdicts, noise)[2] / float(verdicts.differs.sum())


@pytest.mark.parametrize(
    ("rate", "weight", "slope", "hidden"),
    [
        (0.2, 0.3, 0.6, True),  # hypotheses with a border have weight, and directions speak for it
        (0.2, 0.3, 0.4, False),
        (0.2, 0.2, 0.6, False),
        (0.5, 0.12, 0.0, True),  # predictions disagree with many labels
        (0.5, 0.08, 0.0, False),
    ],
)
def test_hidden_labels_widen_the_interval(
    rate: float, weight: float, slope: float, hidden: bool
) -> None:
    F, y, _ = contested()
    z = flipped(y, rate, 6)
    noise = estimate_noise(F, z)
    assert noise.border is not None
    first = replace(noise.hypotheses[0], weight=1 - weight, plausibility=1 - weight)
    second = replace(first, weight=weight, plausibility=weight)
    border = replace(noise.border, members=(first, second), direction=slope)
    assert (upper_end(F, z, replace(noise, border=border)) >= 1.25 - 1e-9) == hidden


def test_borders_of_two_classes_hide_more() -> None:
    F, y, _ = contested(n=1000, k=2)
    z = flipped(y, 0.2, 2)
    assert upper_end(F, z, estimate_noise(F, z)) >= 1.5 - 1e-9


def test_classes_that_overlap_get_no_promise_and_no_lower_end() -> None:
    rng = np.random.default_rng(0)
    k, n = 6, 6000
    y = np.arange(n) % k
    logits = 0.9 * (np.eye(k)[y] + rng.standard_normal((n, k)))
    F = 0.3 * logits + 0.1 * rng.standard_normal((n, k))
    noise = estimate_noise(F, y)
    assert np.mean(F.argmax(axis=1) == y) < 0.5
    assert noise.overlap
    verdicts = judge(F, y, noise)
    assert expected_wrong(verdicts, noise)[1] == 0
    assert not promised(verdicts, noise, 0.9, np.ones(n, bool)).any()


def test_few_examples_are_judged_by_the_noise_matrix_alone() -> None:
    F, _, z = contested(n=500)
    noise = estimate_noise(F, z)
    assert noise.hypotheses[0].weight == 1
    assert noise.hypotheses[0].plausibility < 1  # the interval knows of the others
    assert not noise.contested


def test_a_promise_leaves_room_for_chance_where_little_is_flagged() -> None:
    k = 3
    y = np.arange(900) % k
    rng = np.random.default_rng(3)
    F = 2.0 * np.eye(k)[y] - 1 + 0.2 * rng.standard_normal((900, k))
    z = flipped(y, 0.2, k)
    noise = estimate_noise(F, z)
    verdicts = judge(F, z, noise)
    chosen = promised(verdicts, noise, 0.9, np.ones(900, bool))
    mistakes = float(verdicts.right[chosen].sum())
    assert chosen.sum() > 100
    assert mistakes + np.sqrt(mistakes) <= 0.1 * chosen.sum()
    half = np.arange(900) < 450
    assert not promised(verdicts, noise, 0.9, half)[450:].any()
    assert promised(verdicts, noise, 0.5, half).sum() >= promised(verdicts, noise, 0.9, half).sum()


@pytest.mark.parametrize(
    ("strength", "direction", "weighed", "noise"),
    [
        (0.1, 0.4, True, True),
        (0.45, 0.4, True, False),  # strong noise at borders cannot be told from nature
        (0.1, 0.97, True, False),  # wrong labels of clear examples name the runner-up: CIFAR-100
        (0.1, 0.4, False, False),
        (0.1, float("nan"), True, False),
    ],
)
def test_when_noise_explains_labels_that_differ(
    strength: float, direction: float, weighed: bool, noise: bool
) -> None:
    members = (Hypothesis(0.0, np.eye(3), 1.0, 0.4), Hypothesis(strength, np.eye(3), 1.0, 0.6))
    assert Hypotheses(members, direction, False, False, 1.5, weighed).explains == noise
