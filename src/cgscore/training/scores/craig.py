r"""CRAIG: a weighted subset whose gradients represent those of all examples (paper, appendix F.1).

========  =======  ====================================================================
symbol    shape    meaning
========  =======  ====================================================================
g_i       k        ``p_i - y_i``, in place of the gradient of example i
V         n_c      examples of one class; classes are treated separately
S         r        selected examples of V
L(S)      scalar   ``sum_{i in V} min_{j in S} |g_i - g_j|``
w_j       scalar   number of examples of V whose nearest selected example is j
========  =======  ====================================================================

Minimising L(S) is the same as maximising the submodular gain
``F(S) = sum_i (D - min(D, min_{j in S} |g_i - g_j|))``, with D at least the largest distance.
Adding the example of the largest gain until S is complete reaches at least ``1 - 1/e`` of the
maximum of F.

``lazy`` keeps each example's last computed gain. Gains only decrease, also in floating point as
they are summed here. An example whose updated gain is at least the outdated gains of all others is
therefore the best one, and the result is exactly that of plain greedy selection. ``stochastic``
computes the gains of a random ``(n_c / r) log(1 / epsilon)`` examples for each of the r selections.

Distances are computed when they are needed: memory is ``8 n_c`` bytes times a block of candidates.

The paper prints an argmax over S of L(S). As L is a distance, that would be the subset that
represents the others worst; L is minimised here.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from cgscore.errors import OptionError
from cgscore.selection.orders import check_selection
from cgscore.selection.quotas import class_quotas
from cgscore.training.loop.evaluation import Evaluation
from cgscore.training.loop.reselection import Coreset
from cgscore.training.scores.residuals import class_columns, residuals
from cgscore.typing import Array, Index

METHODS = ("lazy", "stochastic", "plain")

_MAX_DISTANCES = 1 << 22  # distances in memory at a time


def craig(
    probability: ArrayLike,
    labels: ArrayLike,
    fraction: float,
    *,
    method: str = "lazy",
    epsilon: float = 0.01,
    seed: int = 0,
) -> Coreset:
    """A weighted subset with the same share of every class.

    Parameters
    ----------
    probability : (n, k) array
        Softmax outputs of the network; `Craig` selects again while it is trained.
    labels : (n,) array
        Classes, as columns of `probability`.
    fraction : float
        Share of all examples to select.
    method : {"lazy", "stochastic", "plain"}
        Algorithm of the greedy selection; ``lazy`` and ``plain`` select the same examples.
    epsilon : float
        For ``stochastic``: the expected loss in F beyond ``1/e``.
    seed : int
        Seed of ``stochastic``.
    """
    check_selection(fraction, "random", None, seed)
    check_craig(method, epsilon)
    gradients = residuals(probability, labels)
    codes = class_columns(labels, *gradients.shape)
    sizes = np.bincount(codes, minlength=gradients.shape[1])
    counts = class_quotas(sizes, max(1, round(fraction * len(codes))))
    draw = np.random.default_rng(seed)
    algorithms: dict[str, Callable[[Array, int], Index]] = {
        "lazy": lazy_greedy,
        "plain": plain_greedy,
        "stochastic": partial(stochastic_greedy, epsilon=epsilon, draw=draw),
    }
    positions, weights, distance = [], [], 0.0
    for c in np.flatnonzero(counts):
        members = np.flatnonzero(codes == c)
        selected = algorithms[method](gradients[members], int(counts[c]))
        nearest, distances = _nearest(gradients[members], selected)
        positions.append(members[selected])
        weights.append(np.bincount(nearest, minlength=len(selected)))
        distance += float(distances.sum())
    unordered = np.concatenate(positions)
    order = np.argsort(unordered)
    return Coreset(unordered[order], np.concatenate(weights)[order], distance)


@dataclass(frozen=True)
class Craig:
    """CRAIG's selection by the current network, for ``train(..., select=Craig(0.3))``.

    Attributes
    ----------
    fraction : float
        Share of all examples to train on.
    every : int
        Epochs between two selections; 10 in the paper.
    method, epsilon, seed
        As for `craig`; every selection has its own random numbers.
    """

    fraction: float
    every: int = 10
    method: str = "lazy"
    epsilon: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        check_selection(self.fraction, "random", None, self.seed)
        check_craig(self.method, self.epsilon)
        if self.every < 1:
            raise OptionError(f"every must be 1 epoch or more; got {self.every!r}.")

    def __call__(self, epoch: int, evaluation: Evaluation, codes: Index) -> Coreset:
        """The subset and its weights."""
        return craig(
            evaluation.probability,
            codes,
            self.fraction,
            method=self.method,
            epsilon=self.epsilon,
            seed=self.seed + epoch,
        )


def check_craig(method: str, epsilon: float) -> None:
    """Raise an `OptionError` for options that `craig` does not accept."""
    if method not in METHODS:
        raise OptionError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    if not isinstance(epsilon, Real) or not 0 < epsilon < 1:
        raise OptionError(f"epsilon must be between 0 and 1; got {epsilon!r}.")


def lazy_greedy(G: Array, count: int) -> Index:
    """Rows of G in the order of selection, the first of equal ones; gains are updated lazily."""
    nearest = np.full(len(G), _distance_bound(G))
    queue = [(-gain, j) for j, gain in enumerate(_gains(G, np.arange(len(G)), nearest))]
    heapq.heapify(queue)
    selected: list[int] = []
    computed_at = np.zeros(len(G), np.intp)  # size of the selection when a gain was computed
    while len(selected) < count:
        _, j = heapq.heappop(queue)
        if computed_at[j] == len(selected):
            selected.append(j)
            nearest = np.minimum(nearest, cdist(G[[j]], G)[0])
        else:
            computed_at[j] = len(selected)
            heapq.heappush(queue, (-_gains(G, np.array([j]), nearest)[0], j))
    return np.array(selected, np.intp)


def plain_greedy(G: Array, count: int) -> Index:
    """Rows of G in the order of selection; all gains are computed every time."""
    return _greedy(G, count, lambda remaining: remaining)


def stochastic_greedy(G: Array, count: int, *, epsilon: float, draw: np.random.Generator) -> Index:
    """Rows of G in the order of selection, each the best of a random sample of the remaining."""
    size = int(np.ceil(len(G) / count * np.log(1 / epsilon)))
    return _greedy(
        G,
        count,
        lambda rows: np.sort(draw.choice(rows, min(size, len(rows)), replace=False)),
    )


def _greedy(G: Array, count: int, candidates: Callable[[Index], Index]) -> Index:
    nearest = np.full(len(G), _distance_bound(G))
    remaining = np.ones(len(G), bool)
    selected: list[int] = []
    for _ in range(count):
        rows = candidates(np.flatnonzero(remaining))
        j = int(rows[np.argmax(_gains(G, rows, nearest))])
        selected.append(j)
        remaining[j] = False
        nearest = np.minimum(nearest, cdist(G[[j]], G)[0])
    return np.array(selected, np.intp)


def _distance_bound(G: Array) -> float:
    """D: no two rows are further apart than twice the largest distance from their mean."""
    return 2.001 * float(np.linalg.norm(G - G.mean(axis=0), axis=1).max())


def _gains(G: Array, candidates: Index, nearest: Array) -> Array:
    """What each candidate would add to F.

    `nearest` is the distance of each row to its nearest selected row. Rows are summed in the same
    order for any block size. Every operation is monotone in `nearest`, so that gains never
    increase, and equal gains are equal bits.
    """
    gains = np.empty(len(candidates))
    for part in _blocks(len(candidates), len(G)):
        reduction = nearest - cdist(G[candidates[part]], G)
        gains[part] = np.maximum(reduction, 0).sum(axis=1)
    return gains


def _nearest(G: Array, selected: Index) -> tuple[Index, Array]:
    """For each row of G the position in `selected` of its nearest row, and the distance to it.

    A selected row is its own nearest one, even if others have the same gradient.
    """
    positions, minima = np.empty(len(G), np.intp), np.empty(len(G))
    for part in _blocks(len(G), len(selected)):
        distances = cdist(G[part], G[selected])
        positions[part] = distances.argmin(axis=1)
        minima[part] = distances.min(axis=1)
    positions[selected] = np.arange(len(selected))
    return positions, minima


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _MAX_DISTANCES // columns)
    return (slice(start, start + step) for start in range(0, rows, step))
