"""Greedy choice among scored examples: their features, a ranking, weights, and what it may cost.

A `Selector` holds the inputs of all examples and their targets. Features of rank m are made once,
when they are first needed, and serve every ranking and every estimate of accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import MemoryLimitError, OptionError
from cgscore.execution.checkpoint import Checkpoint, digest_of, identity
from cgscore.execution.machine import memory_room, show_bytes
from cgscore.execution.progress import Progress
from cgscore.kernel import UnitRows
from cgscore.selection import greedy
from cgscore.selection.expectation import Expectation, expected_quality
from cgscore.selection.weights import representation
from cgscore.selection.window import centred
from cgscore.solvers.lowrank.pivoted_cholesky import Features, kernel_columns, landmark_features
from cgscore.solvers.ridge_search import least_error, ridge_sample
from cgscore.typing import Array, Codes, Index

MAX_LANDMARKS = 1000


@dataclass(frozen=True)
class Cost:
    """Arithmetic and memory of a ranking, in flops of float64 products and in bytes."""

    flops: float
    bytes: int


class Selector:
    """Chooses among examples by kernel regression in features of low rank.

    Attributes
    ----------
    rows : UnitRows
        Inputs of all n examples.
    Y : (n, k) array
        Their targets.
    codes : (n,) array or None
        Their classes; None for a regression.
    ridge : float
        Above 0; the one of the least leave-one-out error on a sample by default.
    landmarks : int
        Rank of the features, at most n.
    seed : int
        Seed of the landmarks and of that sample.
    """

    def __init__(
        self,
        rows: UnitRows,
        Y: Array,
        codes: Codes | None,
        *,
        ridge: float | None = None,
        landmarks: int | None = None,
        seed: int = 0,
    ) -> None:
        if landmarks is not None and landmarks < 1:
            raise OptionError(f"landmarks must be 1 or larger; got {landmarks!r}.")
        self.rows, self.codes, self.seed = rows, codes, seed
        self.Y = centred(Y) if codes is None else Y
        self.landmarks = min(len(rows), landmarks or MAX_LANDMARKS)
        if ridge is None or ridge == 0:  # at ridge 0 a wrong label is fitted as well as any other
            sample = ridge_sample(np.argmax(self.Y, axis=1), seed)
            ridge = least_error(rows[sample], self.Y[sample]).ridge
        self.ridge = ridge
        self._features: Features | None = None

    def cost(self, count: int) -> Cost:
        """What features and a ranking of `count` examples take."""
        (n, p), m, k = self.rows.centred.shape, self.landmarks, self.Y.shape[1]
        making = 2.0 * n * m * (p + m)
        stretches = 1 + count // (greedy.STRETCH * max(m, greedy.BLOCK))
        left = n - count / 2  # on average, since those that are taken are left out
        anew = stretches * (5.0 * left * m**2 + 4.0 * m**3)
        picking = 4.0 * greedy.CANDIDATES * m * (m + greedy.CANDIDATES * greedy.BLOCK)
        taking = count * (4.0 * left * m + 2.0 * left * (greedy.BLOCK + 3 * k) + picking)
        return Cost(making + anew + taking, 8 * n * (2 * m + 3 * k) + 32 * m * m)

    def features(self, progress: Progress) -> Features:
        """Features of all examples, made once."""
        if self._features is None:
            room, needed = memory_room(None), self.cost(0).bytes
            if needed > room.bytes:
                raise MemoryLimitError(
                    f"Features of rank {self.landmarks:,} of {len(self.rows):,} examples take "
                    f"{show_bytes(needed)} of memory; {room}. Give fewer landmarks."
                )
            n = len(self.rows)
            with progress.phase("landmarks", self.landmarks) as advance:
                self._features = landmark_features(
                    kernel_columns(self.rows),
                    np.full(n, self.rows.kernel.diagonal),
                    self.landmarks,
                    seed=self.seed,
                    advance=advance,
                )
        return self._features

    def ranking(
        self,
        pool: Index,
        progress: Progress,
        *,
        enough: Callable[[Index], bool] | None = None,
        count: int | None = None,
        checkpoint: Path | None = None,
    ) -> greedy.Ranking:
        """Examples of a pool in the order of greedy choice.

        Parameters
        ----------
        pool : (m,) array
            Positions, ascending, of the examples among which to choose; the others do not count in
            the error either.
        progress : Progress
            Where progress is reported.
        enough : callable, optional
            Whether what was taken so far, as positions in the pool, is enough.
        count : int, optional
            About how many that will be, for the display of progress; by default all.
        checkpoint : Path, optional
            A folder from which an interrupted ranking goes on.

        Returns
        -------
        Ranking
            Positions among all examples.
        """
        store = None
        if checkpoint is not None:
            store = Checkpoint(checkpoint, self._work(pool))
        try:
            features, Y = self.features(progress), self.Y
            if len(pool) < len(self.rows):
                features = Features(features.Phi[pool], features.rest[pool], features.landmarks)
                Y = Y[pool]
            with progress.phase("ranking", count or len(pool)) as advance:
                found = greedy.rank(
                    features, Y, ridge=self.ridge, enough=enough, store=store, advance=advance
                )
        finally:
            if store is not None:
                store.close()
        return greedy.Ranking(pool[found.order], found.gains)

    def weights(self, kept: Index, pool: Index | None = None) -> Array:
        """How many examples of the pool (by default all) each kept one stands for."""
        return representation(self.rows, self.codes, kept, pool)

    def expectation(
        self, kept: Index, progress: Progress, judged: NDArray[np.bool_] | None = None
    ) -> Expectation:
        """How well the kept examples predict, against all of them; see `expected_quality`."""
        return expected_quality(self.features(progress), self.Y, self.ridge, kept, judged)

    def _work(self, pool: Index) -> dict[str, object]:
        return identity(
            self.rows,
            self.ridge,
            method="greedy",
            seed=self.seed,
            labels=digest_of(self.Y),
            selection=digest_of(pool),
            landmarks=self.landmarks,
        )
