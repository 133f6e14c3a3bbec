"""Classifiers that judge what was kept. None of them is what chose, and each is fixed.

linear      ridge regression to class targets, on the inputs
kernel      the same with a Gaussian kernel
neighbours  the five nearest, weighted by a Gaussian of their distance
steps       softmax regression by stochastic gradients, the same number of steps whatever is kept
boosting    histogram gradient boosting of scikit-learn, for tables
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve

LINEAR, KERNEL = 10.0, 0.1  # ridges
NEIGHBOURS = 5
ROWS = 500  # test examples at a time
LISTED = 1000  # nearest examples of each test example, of many examples
STEPS, BATCH, RATE, MOMENTUM = 1000, 64, 0.02, 0.9


def targets(labels: Any, k: int) -> Any:
    return np.eye(k)[labels] - 1 / k


def linear(X: Any, labels: Any, test: Any, k: int) -> Any:
    """Classes that ridge regression predicts."""
    A = np.c_[X, np.ones(len(X))]
    W = solve(A.T @ A + LINEAR * np.eye(A.shape[1]), A.T @ targets(labels, k), assume_a="pos")
    return np.argmax(np.c_[test, np.ones(len(test))] @ W, axis=1)


def kernel(K: Any, labels: Any, K_test: Any, k: int) -> Any:
    """The same with a kernel."""
    A = solve(K + KERNEL * np.eye(len(K)), targets(labels, k), assume_a="pos", overwrite_a=True)
    return np.argmax(K_test @ A, axis=1)


def nearest(K_test: Any) -> Any:
    """Positions of the `LISTED` most similar examples of each test example, nearest first."""
    found = np.empty((len(K_test), min(LISTED, K_test.shape[1])), np.int32)
    for start in range(0, len(K_test), ROWS):
        block = -K_test[start : start + ROWS]
        near = np.argpartition(block, found.shape[1] - 1, axis=1)[:, : found.shape[1]]
        order = np.argsort(np.take_along_axis(block, near, axis=1), axis=1)
        found[start : start + ROWS] = np.take_along_axis(near, order, axis=1)
    return found


def neighbours_listed(labels: Any, kept: Any, K_test: Any, near: Any, k: int) -> Any:
    """The same as `neighbours`, from `nearest` where that lists five of the kept."""
    is_kept = np.zeros(K_test.shape[1], bool)
    is_kept[kept] = True
    listed = is_kept[near]
    listed &= np.cumsum(listed, axis=1) <= NEIGHBOURS  # the first five
    enough = listed.sum(axis=1) == NEIGHBOURS
    rows, places = np.nonzero(listed & enough[:, None])
    examples, votes = near[rows, places], np.zeros((len(near), k))
    np.add.at(votes, (rows, labels[examples]), K_test[rows, examples])
    found = np.argmax(votes, axis=1)
    found[~enough] = neighbours(labels, kept, K_test[~enough], k)
    return found


def neighbours(labels: Any, kept: Any, K_test: Any, k: int) -> Any:
    """The class of the most similar five of the kept, by the sum of their similarities."""
    count = min(NEIGHBOURS, len(kept))
    found = np.empty(len(K_test), np.intp)
    for start in range(0, len(K_test), ROWS):
        block = K_test[start : start + ROWS][:, kept]
        near = np.argpartition(-block, count - 1, axis=1)[:, :count]
        rows = np.arange(len(block))
        votes = np.zeros((len(block), k))
        for place in range(count):
            np.add.at(votes, (rows, labels[kept[near[:, place]]]), block[rows, near[:, place]])
        found[start : start + ROWS] = np.argmax(votes, axis=1)
    return found


def steps(X: Any, labels: Any, kept: Any, test: Any, k: int, seed: int, *, fresh: bool) -> Any:
    """Softmax regression; with `fresh` every epoch is of as many examples, drawn anew from all."""
    rng = np.random.default_rng(seed)
    mean, scale = X.mean(axis=0), X.std() + 1e-9
    W, V = np.zeros((X.shape[1] + 1, k)), np.zeros((X.shape[1] + 1, k))
    queue = np.empty(0, np.intp)
    for step in range(STEPS):
        if len(queue) < min(BATCH, len(kept)):
            epoch = rng.choice(len(X), len(kept), replace=False) if fresh else kept
            queue = np.concatenate([queue, rng.permutation(epoch)])
        batch, queue = queue[:BATCH], queue[BATCH:]
        A = np.c_[(X[batch] - mean) / scale, np.ones(len(batch))]
        scores = A @ W
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[np.arange(len(batch)), labels[batch]] -= 1
        V = MOMENTUM * V + A.T @ chances / len(batch)
        W -= RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS)) * V
    return np.argmax(np.c_[(test - mean) / scale, np.ones(len(test))] @ W, axis=1)


def boosting(X: Any, labels: Any, test: Any, seed: int) -> Any:
    """Classes that gradient boosting predicts."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)
    return model.fit(X, labels).predict(test)
