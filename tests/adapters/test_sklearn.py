"""The estimators, under scikit-learn's own checks and in a pipeline of imbalanced-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import estimator_checks_generator

import cgscore
from cgscore.adapters.sklearn import CGResampler, CGScorer
from cgscore.errors import InputError, OptionError, SourceError

#: Rows of zeros have no direction; scikit-learn's checks draw some.
ZEROS = {
    "check_estimators_dtypes",
    "check_estimator_sparse_tag",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (CGScorer(), ZEROS),
        (CGScorer(add_constant=True), set()),
        (CGResampler(add_constant=True), set()),
    ],
    ids=["scorer", "with constant", "resampler"],
)
def test_checks_of_scikit_learn(estimator: Any, expected: set[str]) -> None:
    passed = 0
    for one, check in estimator_checks_generator(estimator):
        name = getattr(check, "func", check).__name__
        if name in expected:
            with pytest.raises(Exception, match=r"rows that are zero|sparse"):
                check(one)
        elif name != "check_array_api_input":  # needs SCIPY_ARRAY_API
            check(one)
            passed += 1
    assert passed > 35


def test_scorer_says_what_score_says() -> None:
    X, y = load_digits(return_X_y=True)
    X, names = X[:300], np.array(list("abcdefghij"))[y[:300]]
    scorer = clone(CGScorer(ridge=0.1)).fit(X, names)
    s = cgscore.score(X, names, ridge=0.1)
    assert (scorer.scores_ == s.table["cg"]).all()
    assert (scorer.loo_ == s.loo).all()
    assert (scorer.loo_predictions_ == s.table["predicted_label"]).all()
    assert scorer.classes_.tolist() == list("abcdefghij")
    assert scorer.n_features_in_ == 64
    same = CGScorer(ridge=0.1).fit(sparse.csr_matrix(X), names)
    assert np.allclose(same.scores_, scorer.scores_)


def test_scorer_of_numbers() -> None:
    X, _ = load_iris(return_X_y=True)
    scorer = CGScorer(task="regression", ridge=0.1, add_constant=True).fit(X[:, :3], X[:, 3])
    assert not hasattr(scorer, "classes_")
    assert np.corrcoef(scorer.loo_predictions_, X[:, 3])[0, 1] > 0.9


def test_resampler_inside_a_pipeline() -> None:
    from imblearn.pipeline import Pipeline
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler

    X, y = load_iris(return_X_y=True, as_frame=True)
    wrong = y.copy()
    wrong[::10] = (wrong[::10] + 1) % 3
    pipeline = Pipeline(
        [
            ("scale", StandardScaler()),
            ("keep", CGResampler(1.0, drop_issues=True, ridge="auto", add_constant=True)),
            ("model", LogisticRegression()),
        ]
    )
    search = GridSearchCV(pipeline, {"keep__fraction": [0.3, 1.0]}, cv=3).fit(X, wrong)
    best = search.best_estimator_
    assert best.score(X, y) > 0.93
    dropped = np.setdiff1d(np.arange(150), best["keep"].sample_indices_)
    assert np.isin(dropped, np.arange(0, 150, 10)).mean() > 0.5


def test_resampler_gives_back_what_it_gets() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    kept = cgscore.score(X, y).keep(0.5)
    frame, series = CGResampler(0.5).fit_resample(pd.DataFrame(X), pd.Series(y, name="digit"))
    assert (frame.to_numpy() == X[kept]).all()
    assert series.name == "digit"
    assert frame.index.tolist() == kept.tolist()
    dense, labels = CGResampler(0.5).fit_resample(X, y.tolist())
    assert (dense == X[kept]).all()
    assert (labels == y[kept]).all()
    few, _ = CGResampler(0.5).fit_resample(sparse.csr_matrix(X), y)
    assert sparse.issparse(few)


def test_resampler_by_a_ranking_with_weights() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    scores = cgscore.score(X, y)
    resampler = CGResampler(0.2, order="greedy", landmarks=50, weights=True)
    rows, _ = resampler.fit_resample(X, y)
    kept = scores.keep(0.2, "greedy", landmarks=50)
    assert (rows == X[kept]).all()
    assert (resampler.sample_weight_ == scores.weights(kept)).all()
    resampler.set_params(order="auto", weights=False).fit(X, y)
    assert not hasattr(resampler, "sample_weight_")
    assert not scores.label_issues()["is_label_issue"].to_numpy()[resampler.sample_indices_].any()


def test_conventions() -> None:
    import pickle

    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    rows, labels = CGResampler(0.5).fit_resample(X.tolist(), y.tolist())
    assert isinstance(rows, list)
    assert isinstance(labels, list)
    drawn = CGResampler(0.5, order="random", random_state=np.random.RandomState(0))
    assert len(drawn.fit_resample(X, y)[0]) == 100
    scorer = CGScorer(ridge=0.1).fit(X, y)
    assert len(pickle.dumps(scorer)) < 4 * X.nbytes
    assert X.tobytes() not in pickle.dumps(scorer)
    assert (pickle.loads(pickle.dumps(scorer)).scores_ == scorer.scores_).all()
    assert not hasattr(scorer.set_params(task="regression").fit(X, y), "classes_")
    huge = sparse.csr_matrix((10, 10**10))
    with pytest.raises(SourceError, match="once read"):
        CGScorer().fit(huge, y[:10])


def test_mistakes() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(OptionError, match="requires y"):
        CGScorer().fit(X)
    with pytest.raises(InputError, match="at most 1"):
        CGResampler(7, add_constant=True).fit_resample(X, y)
