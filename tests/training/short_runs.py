"""Small networks, images and settings for trainings that take less than a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.special import softmax

from cgscore.training.loop.settings import Settings
from cgscore.training.models import resnet18

QUICK = Settings(epochs=3, learning_rate=0.05, batch_size=8)


def images(n: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    X = rng.integers(0, 100, (n, 8, 8)).astype(np.uint8)
    X[np.arange(n), 2 * y] += 150  # a bright row for each class
    return X, y


def network() -> Any:
    """A small ResNet with batch normalisation and dropout."""
    model = resnet18(3, width=2, channels=1)
    model.stages.append(torch.nn.Dropout(0.3))
    return model


def linear(p: int, k: int) -> Any:
    model = torch.nn.Linear(p, k)
    torch.nn.init.normal_(model.weight, generator=torch.Generator().manual_seed(0))
    torch.nn.init.zeros_(model.bias)
    return model


def same(a: Any, b: Any) -> bool:
    state, other = a.state_dict(), b.state_dict()
    return list(state) == list(other) and all(torch.equal(state[k], other[k]) for k in state)


def softmax_regression(
    W: Any, b: Any, X: Any, Y: Any, batches: list[Any], settings: Settings, weights: Any = None
) -> tuple[Any, Any]:
    """Stochastic gradient descent as the formulas have it; weights are of every step."""
    moving = [np.zeros_like(W), np.zeros_like(b)]
    for t, rows in enumerate(batches):
        wrong = (softmax(X[rows] @ W.T + b, axis=1) - Y[rows]) / len(rows)
        if weights is not None:
            wrong *= weights[t][rows, None]
        gradients = [wrong.T @ X[rows], wrong.sum(axis=0)]
        rate = settings.learning_rate * (1 + np.cos(np.pi * t / len(batches))) / 2
        for i, weight in enumerate((W, b)):
            gradient = gradients[i] + settings.weight_decay * weight
            moving[i] = gradient if t == 0 else settings.momentum * moving[i] + gradient
        W, b = W - rate * moving[0], b - rate * moving[1]
    return W, b


class Interrupted(Exception):
    pass


def interrupt_after(part: float) -> Any:
    """A progress listener that raises `Interrupted` after a part of the work."""

    def listen(_: str, done: float) -> None:
        if done > part:
            raise Interrupted

    return listen
