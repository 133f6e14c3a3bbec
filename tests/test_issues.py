"""Which labels are wrong: estimates of noise, decisions, kinds of trouble, neighbours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import cgscore
from cgscore.errors import CGScoreWarning, OptionError
from cgscore.execution.progress import Silent
from cgscore.issues import noise_model as issues
from cgscore.issues.calibration import Calibration
from cgscore.issues.neighbours import neighbours
from cgscore.solvers import ridge_search as ridges
from cgscore.valuation import class_targets
from tests.command import invoke

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def flipped(y: Any, share: float, k: int, seed: int = 0, step: int | None = None) -> Any:
    """Labels of which a share goes to other classes at random, or `step` classes on."""
    rng = np.random.default_rng(seed)
    z = y.copy()
    for c in range(k):
        wrong = rng.permutation(np.flatnonzero(y == c))[: round(share * (y == c).sum())]
        z[wrong] = (c + (step or rng.integers(1, k, len(wrong)))) % k
    return z


def f1(wrong: Any, marked: Any) -> float:
    return float(2 * (wrong & marked).sum() / (wrong.sum() + marked.sum()))


def auroc(wrong: Any, right: Any) -> float:
    ranks = right.argsort().argsort()
    low, n = wrong.sum(), len(wrong)
    return float(1 - (ranks[wrong].sum() - low * (low - 1) / 2) / (low * (n - low)))


def predictions(y: Any, z: Any, k: int, seed: int = 1) -> Any:
    """Something like leave-one-out predictions: the mean target of the noisy class, and spread."""
    rng = np.random.default_rng(seed)
    T = np.array([[np.mean(z[y == c] == j) for j in range(k)] for c in range(k)])
    hard = rng.random(len(y)) < 0.1
    mix = np.where(hard, 0.55, 1.0)[:, None]
    other = rng.integers(0, k, len(y))
    clean = mix * np.eye(k)[y] + (1 - mix) * np.eye(k)[other]
    return 2 * clean @ T - 1 + 0.15 * rng.standard_normal((len(y), k))


@pytest.mark.parametrize(("share", "step"), [(0.05, None), (0.2, None), (0.3, 1), (0.0, None)])
def test_the_noise_is_estimated(share: float, step: int | None) -> None:
    k = 6
    y = np.arange(6000) % k
    z = flipped(y, share, k, step=step)
    F = predictions(y, z, k)
    noise = issues.estimate_noise(F, z)
    np.testing.assert_allclose(noise.T.sum(axis=1), 1)
    truth = np.array([[np.mean(z[y == c] == j) for j in range(k)] for c in range(k)])
    assert np.abs(noise.T - truth).max() < 0.04
    verdicts = issues.judge(F, z, noise)
    expected, low, high = issues.interval(verdicts.right, noise)
    assert low <= (y != z).sum() <= high
    assert expected == pytest.approx(verdicts.wrong_by_class.sum())
    if share:
        assert f1(y != z, issues.flagged(verdicts.right)) > 0.85
        assert auroc(y != z, verdicts.right) > 0.97


def test_classes_that_overlap_are_not_taken_for_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a third is misclassified by nature: most of that is not called noise."""
    k, n = 6, 8000
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    logits = 1.6 * (1.6 * np.eye(k)[y] + rng.standard_normal((n, k)))
    q = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.mean(q.argmax(axis=1) != y) > 0.35
    F = 0.6 * (2 * q - 1) + 0.1 * rng.standard_normal((n, k))
    right = issues.judge(F, y, issues.estimate_noise(F, y)).right
    assert issues.flagged(right).mean() < 0.02
    assert (1 - right).sum() < 0.05 * n
    monkeypatch.setattr(issues, "SHARES", (0.25,))
    naive = issues.judge(F, y, issues.estimate_noise(F, y)).right
    assert (1 - naive).sum() > 2 * (1 - right).sum()


def test_posteriors_against_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    F, codes = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
    T = rng.dirichlet(np.ones(3), 3)
    found = issues.judge(F, codes, issues.Noise(T, Calibration(2.5), 10))
    for i in range(40):
        q = np.exp(2.5 * F[i]) / np.exp(2.5 * F[i]).sum()
        posterior = q * T[:, codes[i]] / (q @ T[:, codes[i]])
        assert found.right[i] == pytest.approx(posterior[codes[i]])
        order = np.argsort(-posterior)
        assert (found.best[i], found.second[i]) == (order[0], order[1])
        assert found.sure[i] == pytest.approx(posterior.max())


def test_options_for_fewer_and_more() -> None:
    right = np.array([0.9, 0.05, 0.4, 0.99, 0.3, 0.6])
    assert issues.flagged(right).tolist() == [False, True, True, False, True, False]
    assert np.flatnonzero(issues.flagged(right, expected_noise=2)).tolist() == [1, 4]
    assert np.flatnonzero(issues.flagged(right, expected_noise=0.34)).tolist() == [1, 4]
    assert np.flatnonzero(issues.flagged(right, precision=0.9)).tolist() == [1]
    assert np.flatnonzero(issues.flagged(right, precision=0.75)).tolist() == [1, 2, 4]
    assert not issues.flagged(right, precision=0.99).any()


def test_shares_and_their_intervals() -> None:
    low, high = issues.wilson(0.8, 10, 1.96)
    assert low == pytest.approx(0.4902, abs=1e-4)  # as tables of Wilson's interval have it
    assert high == pytest.approx(0.9433, abs=1e-4)
    assert issues.wilson(0.0, 100, 3.0)[1] > 0.08  # nothing seen is not nothing there


@pytest.fixture(scope="module")
def noisy() -> Any:
    """Digits with a twentieth of the labels flipped, scored with the automatic ridge."""
    X, y = load_digits(return_X_y=True)
    z = flipped(y, 0.05, 10)
    return X, y, z, cgscore.score(X, z, ridge="auto")


def test_wrong_labels_of_digits(noisy: Any) -> None:
    X, y, z, s = noisy
    found = s.label_issues()
    assert found.index.tolist() == list(range(len(X)))
    assert found.columns.tolist()[:4] == [
        "is_label_issue",
        "label_score",
        "given_label",
        "predicted_label",
    ]
    marked = found["is_label_issue"].to_numpy()
    assert f1(y != z, marked) > 0.95
    assert (found["predicted_label"][marked] != found["given_label"][marked]).all()
    assert np.mean(found["predicted_label"][marked & (y != z)] == y[marked & (y != z)]) > 0.97
    low, high = found.attrs["interval"]
    assert low <= (y != z).sum() <= high
    assert found.attrs["hint"] is None
    assert found["label_score"].between(0, 1).all()
    assert (found["kind"][marked] == "wrong label").all()
    assert 0 < (found["kind"] == "atypical").sum() < 100


def test_a_result_of_ridge_0_comes_with_a_hint(noisy: Any) -> None:
    X, _, z, _ = noisy
    assert 'ridge="auto"' in cgscore.score(X, z).label_issues().attrs["hint"]


def test_the_papers_detectors(noisy: Any) -> None:
    _, y, z, s = noisy
    sign = s.label_issues(by="sign")
    assert (sign["is_label_issue"].to_numpy() == (s.table["partial"] > 0).to_numpy()).all()
    margin = s.label_issues(by="margin")["is_label_issue"].to_numpy()
    assert (margin == (s.table["margin"] < 0).to_numpy()).all()
    for name in ("cg", "partial"):
        found = s.label_issues(by=name, expected_noise=0.05)
        assert found["is_label_issue"].sum() == round(0.05 * len(y))
        worst = set(s.table[name].nlargest(90).index)
        assert set(np.flatnonzero(found["is_label_issue"])) == worst
        assert auroc(y != z, found["label_score"].to_numpy()) > 0.95
    with pytest.raises(OptionError, match="by='guess' is not known"):
        s.label_issues(by="guess")
    with pytest.raises(OptionError, match="not both"):
        s.label_issues(expected_noise=5, precision=0.9)
    with pytest.raises(OptionError, match="precision= needs probabilities"):
        s.label_issues(by="cg", precision=0.9)


def test_verdicts_from_a_saved_result(noisy: Any, tmp_path: Path) -> None:
    s = noisy[3]
    s.save(tmp_path / "s.parquet")
    again = cgscore.load(tmp_path / "s.parquet").label_issues()
    assert again.equals(s.label_issues())
    assert cgscore.load(tmp_path / "s.parquet").meta["ridge_choice"] == s.meta["ridge_choice"]


def test_labels_that_are_text_and_predictions_that_are_missing() -> None:
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {c}" for c in y])
    names[:5] = "digit 9"
    s = cgscore.score(X, names, method="subsample", ratio=2, runs=4, ridge=0.1)
    found = s.label_issues()
    missing = s.table["margin"].isna().to_numpy()
    assert 0 < missing.sum() < len(X)
    assert found["label_score"].isna().to_numpy().tolist() == missing.tolist()
    assert not found["is_label_issue"][missing].any()
    assert found["predicted_label"][missing].isna().all()
    seen = ~missing[:5]
    assert (found["predicted_label"][:5][seen] != "digit 9").all()


def test_kinds_of_trouble() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 60)
    X = rng.standard_normal((180, 10)) + 4 * np.eye(3, 10)[y]
    X[10], y[11] = X[70], 3  # a conflict of classes 0 and 1; a class of one example
    found = cgscore.score(X, y).label_issues()["kind"]
    assert found[10] == found[70] == "conflicting duplicates"
    assert found[11] == "alone in its class"
    ridged = cgscore.score(X, y, ridge="auto").label_issues()["kind"]
    assert ridged[10] == ridged[70] == "conflicting duplicates"
    assert (ridged == "conflicting duplicates").sum() == 2


def blobs(counts: Any, apart: float = 5.0, p: int = 20) -> Any:
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(len(counts)), counts)
    return rng.standard_normal((len(y), p)) + apart * rng.standard_normal((len(counts), p))[y], y


@pytest.mark.parametrize(
    ("counts", "share", "least"),
    [
        ([1000, 10], 0.05, 0.6),  # 1:100
        ([400, 400, 3], 0.1, 0.8),  # a class of three
        ([300, 300], 0.2, 0.9),  # two classes
        ([100] * 8, 0.5, 0.9),
    ],
)
def test_hard_cases(counts: Any, share: float, least: float) -> None:
    X, y = blobs(counts)
    z = flipped(y, share, len(counts))
    found = cgscore.score(X, z, ridge="auto").label_issues()
    assert f1(y != z, found["is_label_issue"].to_numpy()) > least


def test_four_of_five_labels_wrong() -> None:
    """Flagging everything would have an F1 of 0.89: ranks and suggestions are what is left."""
    X, y = blobs([150] * 8)
    z = flipped(y, 0.8, 8)
    found = cgscore.score(X, z, ridge="auto").label_issues()
    assert auroc(y != z, found["label_score"].to_numpy()) > 0.97
    marked = found["is_label_issue"].to_numpy() & (y != z)
    assert np.mean(found["predicted_label"][marked] == y[marked]) > 0.9


def test_inputs_that_tell_nothing_flag_nothing() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), rng.integers(0, 5, 300)
    s = cgscore.score(X, y, ridge="auto")
    with pytest.warns(CGScoreWarning, match="no better than chance"):
        found = s.label_issues()
    assert not found["is_label_issue"].any()
    assert "no better than chance" in found.attrs["hint"]
    assert s.label_issues(expected_noise=10)["is_label_issue"].sum() == 10


@pytest.mark.parametrize("wrong", [16, 80])
def test_rare_noise_is_not_taken_for_overlap(wrong: int) -> None:
    k, n = 10, 8000
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, k, n)
        z = y.copy()
        rows = rng.choice(n, wrong, replace=False)
        z[rows] = (y[rows] + rng.integers(1, k, wrong)) % k
        F = 2.0 * np.eye(k)[y] - 1 + 0.25 * rng.standard_normal((n, k))
        right = issues.judge(F, z, issues.estimate_noise(F, z)).right
        assert f1(y != z, issues.flagged(right)) > 0.9


@pytest.mark.parametrize("k", [2, 6])
def test_the_order_of_rows_does_not_matter(k: int) -> None:
    y = np.arange(3000) % k  # in this order every other row is of an even class
    z = flipped(y, 0.1, k)
    F = predictions(y, z, k)
    mixed = np.random.default_rng(5).permutation(len(y))
    one = issues.judge(F, z, issues.estimate_noise(F, z)).right
    two = issues.judge(F[mixed], z[mixed], issues.estimate_noise(F[mixed], z[mixed])).right
    np.testing.assert_allclose(one[mixed], two, atol=1e-4)


def test_confidence_is_that_of_the_suggested_label(noisy: Any) -> None:
    _, _, z, s = noisy
    found = s.label_issues(expected_noise=0.5)
    noise = issues.estimate_noise(s.loo, z)
    posterior = noise.how.probabilities(s.loo) * noise.T[:, z].T
    posterior /= posterior.sum(axis=1, keepdims=True)
    suggested = found["predicted_label"].to_numpy()
    assert (suggested[found["is_label_issue"]] != z[found["is_label_issue"]]).all()
    chance = posterior[np.arange(len(z)), suggested]
    np.testing.assert_allclose(found["confidence"], chance, atol=1e-12)


def test_a_thousand_classes() -> None:
    X, y = blobs([4] * 1000, p=40)
    z = flipped(y, 0.25, 1000)
    found = cgscore.score(X, z, ridge="auto").label_issues()
    assert f1(y != z, found["is_label_issue"].to_numpy()) > 0.9


def test_regressions_have_no_label_issues(noisy: Any) -> None:
    s = cgscore.score(noisy[0][:50], noisy[0][:50, 10], task="regression", ridge="auto")
    assert s.meta["ridge"] > 0
    with pytest.raises(OptionError, match="for classes"):
        s.label_issues()


def test_the_automatic_ridge_has_the_least_error(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([80, 80, 80], apart=1.0)
    monkeypatch.setattr(ridges, "CANDIDATES", 10.0 ** np.linspace(-3, 1, 9))
    found = ridges.least_error(cgscore.kernel.unit_rows(X), class_targets(y, 3))
    errors = []
    for ridge in ridges.CANDIDATES:
        s = cgscore.score(X, y, ridge=float(ridge))
        errors.append(np.mean((class_targets(y, 3) - s.loo) ** 2))
    assert found.ridge == ridges.CANDIDATES[int(np.argmin(errors))]
    assert found.error == pytest.approx(min(errors), rel=1e-8)
    assert found.error_without == pytest.approx(errors[0], rel=1e-8)
    s = cgscore.score(X, y, ridge="auto", method="partition")
    assert s.meta["ridge"] == found.ridge
    assert s.meta["ridge_choice"]["examples"] == 240
    with pytest.raises(OptionError, match="'auto'"):
        cgscore.score(X, y, ridge="some")


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_neighbours_carry_their_part_of_the_prediction(ridge: float) -> None:
    X, y = blobs([40, 40, 40], apart=1.0)
    y[7] = 1
    X[9] = X[8]  # a copy
    s = cgscore.score(X, y, ridge=ridge)
    told = neighbours(s.data(), s.codes(), [7], [0], ridge=ridge, progress=Silent())
    assert told["side"].tolist() == ["given"] * 3 + ["suggested"] * 3
    rows = np.delete(np.arange(120), 9) if ridge == 0 else np.arange(120)
    inverse = np.linalg.inv(cgscore.gram(X[rows]) + ridge * np.eye(len(rows)))
    weight = -inverse[7] / inverse[7, 7]
    weight[7] = 0
    prediction = weight @ class_targets(y[rows], 3)
    np.testing.assert_allclose(prediction, s.loo[7], rtol=1e-6)
    share = np.maximum(weight, 0) / np.maximum(weight, 0).sum()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for _, row in told.iterrows():
        near = int(row["neighbour"])
        assert y[near] == (1 if row["side"] == "given" else 0)
        if near not in (8, 9):
            assert row["share"] == pytest.approx(share[np.searchsorted(rows, near)], abs=2e-3)
        assert row["similarity"] == pytest.approx(unit[7] @ unit[near])


def test_command_line(noisy: Any, tmp_path: Path) -> None:
    X, z = noisy[0][:500], noisy[2][:500]
    np.savez(tmp_path / "d.npz", X=X, y=z)
    text = invoke("issues", "d.npz", "--why", "-o", "i.csv", "--show", "3", folder=tmp_path)
    assert text.returncode == 0, text.stderr
    assert "labels look wrong (95 %:" in text.stdout
    assert "like the given / like the suggested" in text.stdout
    lines = (tmp_path / "i.csv").read_text().splitlines()
    assert lines[0].startswith("id,is_label_issue,label_score,given_label,predicted_label")
    assert len(lines) == 501
    assert sorted(lines[1:], key=lambda line: float(line.split(",")[2])) == lines[1:]  # worst first
    scored = invoke("score", "d.npz", "--ridge", "auto", "-o", "s.parquet", folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    from_source, from_result = (
        json.loads(invoke("issues", name, "--json", "--why", folder=tmp_path).stdout)
        for name in ("d.npz", "s.parquet")
    )
    assert from_source == from_result
    assert len(from_result["why"]) == 60
    rows = "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(z, X, strict=True))
    header = ",".join(["label", *(f"x{i}" for i in range(64))])
    lines = (f"{header}\n{rows}").splitlines()
    (tmp_path / "t.csv").write_text(
        "\n".join([f"id,{lines[0]}", *(f"same,{line}" for line in lines[1:])])
    )
    repeated = invoke("issues", "t.csv", "--why", "--json", folder=tmp_path)  # ids that repeat
    assert repeated.returncode == 0, repeated.stderr
    told = json.loads(repeated.stdout)
    assert len({row["position"] for row in told["why"]}) == 10
    (tmp_path / "d.npz").rename(tmp_path / "moved.npz")
    moved = invoke("issues", "s.parquet", "--why", folder=tmp_path)
    assert moved.returncode == 0
    assert "note: neighbours are left out" in moved.stderr
    found = invoke("issues", "s.parquet", "--why", "--source", "moved.npz", folder=tmp_path)
    assert "like the suggested" in found.stdout
    np.savez(tmp_path / "other.npz", X=X[::-1], y=z)
    other = invoke("issues", "s.parquet", "--why", "--source", "other.npz", folder=tmp_path)
    assert other.returncode == 2
    assert "fingerprint differs" in other.stderr


def test_command_line_mistakes(noisy: Any, tmp_path: Path) -> None:
    X, z = noisy[0][:200], noisy[2][:200]
    table = np.column_stack([z, X])
    header = ",".join(["species", *(f"x{i}" for i in range(64))])
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", header=header, comments="", fmt="%g")
    refused = invoke("issues", "nowhere.npz", "--precision", "2", folder=tmp_path)
    assert refused.returncode == 2
    assert "precision=2" in refused.stderr  # said before anything is read
    scored = invoke(
        "score", "t.csv", "--label-column", "species", "-o", "s.parquet", folder=tmp_path
    )
    assert scored.returncode == 0, scored.stderr
    refused = invoke("issues", "s.parquet", "--label-column", "species", folder=tmp_path)
    assert refused.returncode == 2
    assert "--label-column says how a source is read" in refused.stderr
    (tmp_path / "t.csv").rename(tmp_path / "moved.csv")
    moved = invoke("issues", "s.parquet", "--why", "--source", "moved.csv", folder=tmp_path)
    assert moved.returncode == 0, moved.stderr
    assert "like the suggested" in moved.stdout
