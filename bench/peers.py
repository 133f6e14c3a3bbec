"""What other packages say of wrong labels; run by `label_noise.py` in an environment of its own.

``python peers.py INPUT.npz OUTPUT.npz [METHOD ...]`` reads X and rows of labels Z, and writes for
every method (or those that are named) a row of label scores (low is bad), flags and suggestions for
each, and the seconds taken. A suggestion is the best class other than the given one; -1 where a
method has none. A method that gives up has scores of NaN, and its message is printed.

SimiFeat (Zhu, Dong and Liu, 2022, arXiv 2110.06283) is written from its paper: labels of the 10
nearest neighbours and of the example itself are averaged; the cosine between that and the given
label ranks; of each given class as many of the worst are flagged as the noise matrix says. That
matrix is HOC's (Zhu, Song and Liu, 2021): the one that explains how often an example and its two
nearest neighbours have which labels. Above 20 classes, where triples of labels are too many, the
vote of the neighbours decides. Gradient boosting is for tables (their values before scaling).

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
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

Answer = tuple[Any, Any, Any]
NEIGHBOURS = 10
MAX_TRIPLE_CLASSES = 20


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


def gradient_boosting(X: Any, z: Any) -> Answer:
    model = HistGradientBoostingClassifier(random_state=0)
    chances = cross_val_predict(model, X, z, cv=5, method="predict_proba")
    return (
        get_label_quality_scores(z, chances),
        find_label_issues(z, chances),
        best_other(chances, z),
    )


def simifeat(X: Any, z: Any) -> Answer:
    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(X).kneighbors()[1]
    votes, rows = votes_of(near, z), np.arange(len(z))
    votes[rows, z] += 1  # soft labels include the example itself
    score = votes[rows, z] / np.linalg.norm(votes, axis=1)
    k = votes.shape[1]
    if k > MAX_TRIPLE_CLASSES:
        return score, votes.argmax(1) != z, best_other(votes, z)
    T, prior = higher_order_consensus(np.column_stack([z, z[near[:, :2]]]), k)
    joint = prior[:, None] * T
    wrong = 1 - np.diagonal(joint) / joint.sum(axis=0)  # among those given as each class
    flag = np.zeros(len(z), bool)
    for c in range(k):
        mine = np.flatnonzero(z == c)
        order = mine[np.argsort(score[mine], kind="stable")]
        flag[order[: round(wrong[c] * len(mine))]] = True
    return score, flag, best_other(votes, z)


def higher_order_consensus(triples: Any, k: int) -> tuple[Any, Any]:
    """HOC: the noise matrix and the prior that explain labels of examples and two neighbours."""
    first, second, third = triples.T
    counts = np.zeros((k, k, k))
    np.add.at(counts, (first, second, third), 1)
    counts /= counts.sum()
    pairs, single = counts.sum(axis=2), counts.sum(axis=(1, 2))

    def unpacked(x: Any) -> tuple[Any, Any]:
        return softmax(x[: k * k].reshape(k, k), axis=1), softmax(x[k * k :])

    def cost(x: Any) -> tuple[float, Any]:
        T, p = unpacked(x)
        gap_1 = p @ T - single
        gap_2 = np.einsum("c,ci,cj->ij", p, T, T) - pairs
        gap_3 = np.einsum("c,ci,cj,cl->ijl", p, T, T, T) - counts
        total = (gap_1**2).sum() + (gap_2**2).sum() + (gap_3**2).sum()
        of_T = 2 * p[:, None] * gap_1[None, :]
        of_T += 2 * p[:, None] * (T @ (gap_2 + gap_2.T))
        cubic = gap_3 + gap_3.transpose(1, 0, 2) + gap_3.transpose(2, 1, 0)
        of_T += 2 * p[:, None] * np.einsum("ijl,cj,cl->ci", cubic, T, T)
        of_p = 2 * (T @ gap_1) + 2 * np.einsum("ij,ci,cj->c", gap_2, T, T)
        of_p += 2 * np.einsum("ijl,ci,cj,cl->c", gap_3, T, T, T)
        slope_T = T * (of_T - (of_T * T).sum(axis=1, keepdims=True))
        slope_p = p * (of_p - of_p @ p)
        return 1e4 * float(total), 1e4 * np.concatenate([slope_T.ravel(), slope_p])

    start = np.concatenate([(3 * np.eye(k)).ravel(), np.zeros(k)])
    return unpacked(minimize(cost, start, jac=True, method="L-BFGS-B").x)


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
    "SimiFeat": simifeat,
    "cleanlab, 5-fold gradient boosting": gradient_boosting,
}


def main() -> None:
    warnings.simplefilter("ignore")
    given = np.load(sys.argv[1])
    X, raw, Z = given["X"], given["raw"], given["Z"]
    names = sys.argv[3:] or [
        name for name, method in METHODS.items() if method is not gradient_boosting or len(raw)
    ]
    found: dict[str, Any] = {}
    for number, method in enumerate(METHODS[name] for name in names):
        inputs = raw if method is gradient_boosting else X
        columns: list[list[Any]] = [[], [], [], []]
        for z in Z:
            start = time.perf_counter()
            quiet = io.StringIO()
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                try:
                    answer = method(inputs, z)
                except ValueError as error:  # Datalab's, for an issue it could not look for
                    print(f"  {method.__name__}: {error}", file=sys.__stdout__, flush=True)
                    answer = np.full(len(z), np.nan), np.zeros(len(z)), np.full(len(z), -1)
            for column, value in zip(columns, answer, strict=False):
                column.append(np.asarray(value))
            columns[3].append(time.perf_counter() - start)
        for name, column in zip(("score", "flag", "suggestion", "seconds"), columns, strict=True):
            found[f"{number}-{name}"] = np.stack(column)
        print(f"  {names[number]}: {np.sum(columns[3]):.0f} s", flush=True)
    titles = ("cleanlab, features", "k-NN disagreement")
    if all(title in names for title in titles):
        # Datalab counts the same votes, and tells only the first
        theirs, votes = (f"{names.index(title)}-suggestion" for title in titles)
        found[theirs] = np.where(found[theirs] == Z, found[votes], found[theirs])
    np.savez(sys.argv[2], names=np.array(names), **found)


if __name__ == "__main__":
    main()
