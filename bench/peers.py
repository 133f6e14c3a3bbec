"""What other packages say of wrong labels; run by `label_noise.py` in an environment of its own.

``python peers.py INPUT.npz OUTPUT.npz`` reads X and rows of labels Z, and writes for every method a
row of label scores (low is bad), flags and suggestions for each, and the seconds taken. A
suggestion is the best class other than the given one; -1 where a method has none. A method that
gives up has scores of NaN, and its message is printed.

X has rows of norm 1, as our scores see them. For logistic regression (C = 1, scikit-learn's
default) that is as good as pixels of 0 to 1 on digits, and better on Fashion-MNIST.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from cleanlab import Datalab
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

Answer = tuple[Any, Any, Any]
NEIGHBOURS = 10


def datalab(X: Any, z: Any) -> Answer:
    lab = Datalab(data={"y": z.tolist()}, label_name="y")
    lab.find_issues(features=X, issue_types={"label": {}})
    found = lab.get_issues("label")
    return found["label_score"], found["is_label_issue"], found["predicted_label"]


def logistic_regression(X: Any, z: Any) -> Answer:
    model = LogisticRegression(max_iter=100)
    chances = cross_val_predict(model, X, z, cv=5, method="predict_proba", n_jobs=-1)
    return (
        get_label_quality_scores(z, chances),
        find_label_issues(z, chances),
        best_other(chances, z),
    )


def nearest_neighbours(X: Any, z: Any) -> Answer:
    """The share of the nearest neighbours with the given label."""
    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(X).kneighbors()[1]  # without themselves
    votes = votes_of(near, z)
    share = votes[np.arange(len(z)), z] / NEIGHBOURS
    return share, votes.argmax(1) != z, best_other(votes, z)


def knn_shapley(X: Any, z: Any) -> Answer:
    lab = Datalab(data={"y": z.tolist()}, label_name="y")
    lab.find_issues(features=X, issue_types={"data_valuation": {}})
    found = lab.get_issues("data_valuation")
    return found["data_valuation_score"], found["is_data_valuation_issue"], np.full(len(z), -1)


def votes_of(near: Any, z: Any) -> Any:
    """Labels of the neighbours of every example: counts of each class."""
    votes = np.zeros((len(z), int(z.max()) + 1))
    np.add.at(votes, (np.arange(len(z))[:, None], z[near]), 1)
    return votes


def best_other(values: Any, z: Any) -> Any:
    """The class of the highest value that is not the given one."""
    others = values.copy()
    others[np.arange(len(z)), z] = -np.inf
    return others.argmax(1)


METHODS: dict[str, Callable[[Any, Any], Answer]] = {
    "cleanlab, features": datalab,
    "cleanlab, 5-fold logistic regression": logistic_regression,
    "k-NN disagreement": nearest_neighbours,
    "KNN-Shapley (cleanlab)": knn_shapley,
}


def main() -> None:
    warnings.simplefilter("ignore")
    given = np.load(sys.argv[1])
    X, Z = given["X"], given["Z"]
    found: dict[str, Any] = {}
    for number, method in enumerate(METHODS.values()):
        columns: list[list[Any]] = [[], [], [], []]
        for z in Z:
            start = time.perf_counter()
            quiet = io.StringIO()
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                try:
                    answer = method(X, z)
                except ValueError as error:  # Datalab's, for an issue it could not look for
                    print(f"  {method.__name__}: {error}", file=sys.__stdout__, flush=True)
                    answer = np.full(len(z), np.nan), np.zeros(len(z)), np.full(len(z), -1)
            for column, value in zip(columns, answer, strict=False):
                column.append(np.asarray(value))
            columns[3].append(time.perf_counter() - start)
        for name, column in zip(("score", "flag", "suggestion", "seconds"), columns, strict=True):
            found[f"{number}-{name}"] = np.stack(column)
        print(f"  {list(METHODS)[number]}: {np.sum(columns[3]):.0f} s", flush=True)
    theirs, votes = (
        f"{[*METHODS.values()].index(method)}-suggestion"
        for method in (datalab, nearest_neighbours)
    )  # Datalab counts the same votes, and tells only the first
    found[theirs] = np.where(found[theirs] == Z, found[votes], found[theirs])
    np.savez(sys.argv[2], names=np.array(list(METHODS)), **found)


if __name__ == "__main__":
    main()
