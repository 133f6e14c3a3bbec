"""scikit-learn: the estimator `CGScorer` scores examples, `CGResampler` keeps some of them.

>>> from sklearn.datasets import load_digits
>>> from cgscore.adapters.sklearn import CGScorer
>>> X, y = load_digits(return_X_y=True)
>>> scorer = CGScorer().fit(X, y)
>>> scorer.scores_.shape, scorer.loo_predictions_.shape
((1797,), (1797,))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from cgscore.api import score
from cgscore.data.readers.objects import from_sparse
from cgscore.errors import OptionError
from cgscore.result.scores import Scores
from cgscore.selection.orders import check_selection


class _ScoringEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of both estimators: checks and scores the data."""

    method: str
    ridge: float | str
    add_constant: bool
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def _score(self, X: Any, y: Any, task: str) -> Scores:
        """The scores of the examples, after scikit-learn's checks."""
        if y is None:
            raise OptionError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        regression = task == "regression"
        X, y = validate_data(self, X, y, accept_sparse="csr", y_numeric=regression)
        if not regression:
            check_classification_targets(y)
        if len(y) < 2:
            raise OptionError(
                f"Scoring compares examples and needs 2 or more; got n_samples={len(y)}."
            )
        dense = from_sparse(X).X if hasattr(X, "toarray") else X
        if self.add_constant:
            dense = np.column_stack([dense, np.ones(len(dense))])
        return score(
            dense,
            y,
            method=self.method,
            ridge=self.ridge,
            task=task,
            seed=self._seed(),
            progress=False,
        )

    def _seed(self) -> int:
        """A seed from what scikit-learn accepts as random_state."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))


class CGScorer(_ScoringEstimator):
    """Scores the examples that it is fitted to.

    Parameters
    ----------
    method : str
        As for `cgscore.score`.
    ridge : float or "auto"
        Added to the diagonal of the kernel matrix; ``"auto"`` ranks wrong labels best.
    task : {"classification", "regression"}
        Whether labels are classes or numbers.
    add_constant : bool
        Append a column of ones before rows are scaled to unit norm: for tables of few columns,
        whose magnitude would be lost, and for rows of zeros, which have no direction.
    random_state : int, RandomState or None
        Seed of methods that draw at random.

    Attributes
    ----------
    scores_ : (n,) array
        The complexity-gap score.
    loo_ : (n, k) array
        Leave-one-out predictions, one column per class.
    loo_predictions_ : (n,) array
        The class (or number) that all other examples predict.
    classes_ : (k,) array
        The classes, for classification.
    result_ : Scores
        The whole result.
    n_features_in_ : int
        Number of columns of X.
    """

    def __init__(
        self,
        *,
        method: str = "auto",
        ridge: float | str = 0.0,
        task: str = "classification",
        add_constant: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.ridge = ridge
        self.task = task
        self.add_constant = add_constant
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> CGScorer:
        """Score the rows of X with the labels y."""
        scores = self._score(X, y, self.task)
        self.result_ = scores
        self.scores_ = scores.table["cg"].to_numpy()
        self.loo_ = scores.loo
        self.loo_predictions_ = scores.table["predicted_label"].to_numpy()
        if len(scores.classes):
            self.classes_ = scores.classes
        elif hasattr(self, "classes_"):  # of an earlier fit
            del self.classes_
        return self


class CGResampler(_ScoringEstimator):
    """Keeps a share of the examples, as a step of a pipeline of imbalanced-learn.

    Parameters
    ----------
    fraction, order, per_class, drop_issues, landmarks
        As for `Scores.keep`.
    weights : bool
        Compute `sample_weight_`.
    method, ridge, add_constant, random_state
        As for `CGScorer`.

    Attributes
    ----------
    sample_indices_ : (m,) array
        Positions of the examples that are kept.
    sample_weight_ : (m,) array
        How many examples each kept one stands for, if `weights` is set: for the ``sample_weight``
        of an estimator.
    result_ : Scores
        The scores.
    """

    def __init__(
        self,
        fraction: float = 0.8,
        *,
        order: str = "low-first",
        per_class: bool = True,
        drop_issues: bool = False,
        landmarks: int | None = None,
        weights: bool = False,
        method: str = "auto",
        ridge: float | str = 0.0,
        add_constant: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.fraction = fraction
        self.order = order
        self.per_class = per_class
        self.drop_issues = drop_issues
        self.landmarks = landmarks
        self.weights = weights
        self.method = method
        self.ridge = ridge
        self.add_constant = add_constant
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> CGResampler:
        """Score the examples and choose which to keep."""
        self._choose(X, y)
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows of X and y that are kept, in the types that were given."""
        positions = self._choose(X, y)
        return _safe_indexing(X, positions), _safe_indexing(y, positions)

    def _choose(self, X: Any, y: Any) -> NDArray[np.intp]:
        check_selection(self.fraction, self.order, None)
        scores = self._score(X, y, "classification")
        self.result_ = scores
        self.sample_indices_ = scores.keep(
            self.fraction,
            self.order,
            self.per_class,
            drop_issues=self.drop_issues,
            landmarks=self.landmarks,
            seed=self._seed(),
            progress=False,
        )
        if self.weights:
            self.sample_weight_ = scores.weights(self.sample_indices_)
        elif hasattr(self, "sample_weight_"):  # of an earlier fit
            del self.sample_weight_
        positions: NDArray[np.intp] = self.sample_indices_
        return positions
