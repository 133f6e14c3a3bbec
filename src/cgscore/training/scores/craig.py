r"""CRAIG: a weighted subset whose gradients stand for those of all (paper, appendix F.1).

========  =======  ====================================================================
symbol    shape    meaning
========  =======  ====================================================================
g_i       k        ``p_i - y_i``, which stands for the gradient of example i
V         n_c      examples of one class; every class is done on its own
S                  the chosen ones, a given number of V
L(S)      scalar   ``sum_{i in V} min_{j in S} |g_i - g_j|``
w_j       scalar   number of examples of V whose nearest chosen one is j
========  =======  ====================================================================

Choosing S to have the least L(S) is maximising the submodular gain
``F(S) = sum_i (D - min(D, min_{j in S} |g_i - g_j|))``, with D at least the greatest distance;
adding the example of the greatest gain again and again reaches at least ``1 - 1/e`` of the best F.

``lazy`` keeps the gain that each example had when it was last looked at. Gains only fall, also in
floating point as they are summed here, so that an example whose fresh gain beats the old ones of
all others is the best: the choice is exactly that of plain greedy. ``stochastic`` looks at a random
``(n_c / r) log(1 / epsilon)`` of them for each of the r choices.

Distances are computed when they are needed: memory is ``8 n_c`` bytes times a block of candidates.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from cgscore.errors import OptionError
from cgscore.kernel import Array
from cgscore.selection.orders import check_selection
from cgscore.selection.quotas import class_quotas
from cgscore.training.scores.residuals import class_columns, residuals

METHODS = ("lazy", "stochastic", "plain")

_CHUNK = 1 << 22  # distances held at once

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Coreset:
    """Chosen examples.

    Attributes
    ----------
    positions : (r,) array
        Ascending.
    weights : (r,) array
        How many examples each of them stands for; they add up to the number of all in the classes
        that have one, which are all unless fewer are chosen than there are classes.
    distance : float
        L(S), summed over classes.
    """

    positions: Index
    weights: Index
    distance: float


def craig(
    probability: ArrayLike,
    labels: ArrayLike,
    fraction: float,
    *,
    method: str = "lazy",
    epsilon: float = 0.01,
    seed: int = 0,
) -> Coreset:
    """A weighted subset, the same share of every class.

    Parameters
    ----------
    probability : (n, k) array
        Softmax outputs of the network as it is; `Craig` chooses anew while it is trained.
    labels : (n,) array
        Classes, as columns of `probability`.
    fraction : float
        Share of all examples to choose.
    method : {"lazy", "stochastic", "plain"}
        How the greedy choice is made; ``lazy`` and ``plain`` choose the same.
    epsilon : float
        For ``stochastic``: what it may lose beyond ``1/e``.
    seed : int
        For ``stochastic``.
    """
    check_selection(fraction, "random", None, seed)
    check_craig(method, epsilon)
    gradients = residuals(probability, labels)
    codes = class_columns(labels, *gradients.shape)
    sizes = np.bincount(codes, minlength=gradients.shape[1])
    counts = class_quotas(sizes, max(1, round(fraction * len(codes))))
    draw = np.random.default_rng(seed)
    ways: dict[str, Callable[[Array, int], Index]] = {
        "lazy": lazy_greedy,
        "plain": plain_greedy,
        "stochastic": partial(stochastic_greedy, epsilon=epsilon, draw=draw),
    }
    positions, weights, distance = [], [], 0.0
    for c in np.flatnonzero(counts):
        members = np.flatnonzero(codes == c)
        chosen = ways[method](gradients[members], int(counts[c]))
        nearest, far = _nearest(gradients[members], chosen)
        positions.append(members[chosen])
        weights.append(np.bincount(nearest, minlength=len(chosen)))
        distance += float(far.sum())
    found = np.concatenate(positions)
    order = np.argsort(found)
    return Coreset(found[order], np.concatenate(weights)[order], distance)


def check_craig(method: str, epsilon: float) -> None:
    """Refuse what makes no sense, before any work."""
    if method not in METHODS:
        raise OptionError(f"method={method!r} is not known. Choose one of: {', '.join(METHODS)}.")
    if not isinstance(epsilon, Real) or not 0 < epsilon < 1:
        raise OptionError(f"epsilon={epsilon!r} makes no sense. Expected a share of 0 to 1.")


# The paper prints an argmax over S of L(S). L is a distance and is to be small (the coreset would
# else be the one that stands for the others worst), so that its minimum is sought here.


def lazy_greedy(G: Array, count: int) -> Index:
    """Rows of G in the order of choice, the first of equals; gains are renewed when needed."""
    nearest = np.full(len(G), _greatest(G))
    queue = [(-gain, j) for j, gain in enumerate(_gains(G, np.arange(len(G)), nearest))]
    heapq.heapify(queue)
    chosen: list[int] = []
    fresh = np.zeros(len(G), np.intp)  # how many were chosen when a gain was computed
    while len(chosen) < count:
        _, j = heapq.heappop(queue)
        if fresh[j] == len(chosen):
            chosen.append(j)
            nearest = np.minimum(nearest, cdist(G[[j]], G)[0])
        else:
            fresh[j] = len(chosen)
            heapq.heappush(queue, (-_gains(G, np.array([j]), nearest)[0], j))
    return np.array(chosen, np.intp)


def plain_greedy(G: Array, count: int) -> Index:
    """The same choice, with all gains computed every time."""
    return _greedy(G, count, lambda left: left)


def stochastic_greedy(G: Array, count: int, *, epsilon: float, draw: np.random.Generator) -> Index:
    """Rows of G in the order of choice, each the best of a random sample of those that are left."""
    size = int(np.ceil(len(G) / count * np.log(1 / epsilon)))
    return _greedy(
        G, count, lambda left: np.sort(draw.choice(left, min(size, len(left)), replace=False))
    )


def _greedy(G: Array, count: int, candidates: Callable[[Index], Index]) -> Index:
    nearest = np.full(len(G), _greatest(G))
    left = np.ones(len(G), bool)
    chosen: list[int] = []
    for _ in range(count):
        some = candidates(np.flatnonzero(left))
        j = int(some[np.argmax(_gains(G, some, nearest))])
        chosen.append(j)
        left[j] = False
        nearest = np.minimum(nearest, cdist(G[[j]], G)[0])
    return np.array(chosen, np.intp)


def _greatest(G: Array) -> float:
    """D, with some room: no two rows are further apart than twice the longest from their mean."""
    return 2.001 * float(np.linalg.norm(G - G.mean(axis=0), axis=1).max())


def _gains(G: Array, candidates: Index, nearest: Array) -> Array:
    """What each candidate would add to F; `nearest` is the distance of each row to the chosen.

    Rows are summed one by one in one order, whatever the block: every step is monotone in
    `nearest`, so that gains never rise, and equal gains are equal bits.
    """
    gains = np.empty(len(candidates))
    for part in _blocks(len(candidates), len(G)):
        less = nearest - cdist(G[candidates[part]], G)
        gains[part] = np.maximum(less, 0).sum(axis=1)
    return gains


def _nearest(G: Array, chosen: Index) -> tuple[Index, Array]:
    """For each row of G the position in `chosen` of its nearest one, and how far that is.

    A chosen row is its own nearest one, also where others have the same gradient.
    """
    which, far = np.empty(len(G), np.intp), np.empty(len(G))
    for part in _blocks(len(G), len(chosen)):
        distances = cdist(G[part], G[chosen])
        which[part] = distances.argmin(axis=1)
        far[part] = distances.min(axis=1)
    which[chosen] = np.arange(len(chosen))
    return which, far


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _CHUNK // columns)
    return (slice(start, start + step) for start in range(0, rows, step))
