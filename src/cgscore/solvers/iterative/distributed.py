"""The kernel matrix on the workers of a cluster, in row panels.

All of H is kept, in float32: ``4 n^2`` bytes over all workers. So a product sends the block of
vectors to every worker once, and each panel answers with its own columns of the result: ``4 m n``
bytes out for each worker, and ``4 m n`` back from all of them together. Half of H would save memory
and return ``n / b`` times as much.

Panels depend on n alone, and every one is multiplied by one thread: any number of workers gives the
same bits. A panel that is lost with its worker is formed again by another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cgscore.execution.executor import ClusterExecutor
from cgscore.kernel import UnitRows, aligned, gram_block
from cgscore.solvers.iterative.conjugate_gradients import BLOCK_WIDTH
from cgscore.solvers.iterative.half_matrix import OnTheFlyKernel
from cgscore.solvers.tiles import cuts
from cgscore.typing import Index, Matrix

MAX_PANEL_BYTES = 1 << 28  # bytes of a panel, at most
MAX_PANEL_ROWS = 1280  # rows of a panel, at most


def panels(n: int) -> list[slice]:
    """Rows of each panel."""
    return cuts(0, n, max(1, min(MAX_PANEL_ROWS, MAX_PANEL_BYTES // (4 * n))))


def spread_bytes(n: int, p: int, workers: int) -> int:
    """Memory of all workers: the panels, and for each the rows in both precisions and vectors."""
    return 4 * n**2 + workers * n * (12 * p + 8 * BLOCK_WIDTH)


class DistributedKernel:
    """H on a cluster; parts of it are formed here."""

    def __init__(
        self, rows: UnitRows, cluster: ClusterExecutor, advance: Callable[[float], None]
    ) -> None:
        self.n, self.diagonal = len(rows), rows.kernel.diagonal
        self._cluster = cluster
        self._formed = OnTheFlyKernel(rows)
        self._panels = cluster.hold(form_panel, rows, panels(self.n))
        advance(self.n * (self.n + 1) / 2)

    def product(self, V: Matrix) -> Matrix:
        """Multiply every panel on its worker."""
        products = self._cluster.apply(multiply_panel, self._panels, V)
        return np.asfortranarray(np.hstack(products))

    def part(self, rows: Index, columns: Index) -> Matrix:
        """Form the part."""
        return self._formed.part(rows, columns)


def form_panel(rows: UnitRows, cut: slice) -> Matrix:
    """Columns `cut` of H: (n, b)."""
    out = np.empty((len(rows), cut.stop - cut.start), np.float32)
    columns = rows[cut]
    narrow = columns.single()
    for part in cuts(0, len(rows)):
        block = rows[part]
        gram_block(block.single(), narrow, out[part], precise=(block, columns))
    out[np.arange(cut.start, cut.stop), np.arange(cut.stop - cut.start)] = rows.kernel.diagonal
    return out


def multiply_panel(panel: Matrix, V: Matrix) -> Matrix:
    """``V H`` in the columns of a panel; both may have been received from another process."""
    return np.asarray(aligned(V) @ aligned(panel))
