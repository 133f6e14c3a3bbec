"""H in single precision on a torch device: an accelerator, or the processor itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from cgscore.execution.accelerator import usable
from cgscore.kernel import NEAR_RATIO, UnitRows, pair_values
from cgscore.solvers.cholesky.plan import plan
from cgscore.typing import Index, Matrix


class OnDevice:
    """The lower half of H in panels on the device, in the tiles of `half_matrix`."""

    def __init__(self, rows: UnitRows, name: str, advance: Callable[[float], None]) -> None:
        import torch

        self.n, self.diagonal = len(rows), rows.kernel.diagonal
        self._torch, self._device = torch, usable(name)
        self._edges = plan(self.n, dtype="float32").edges
        single = rows.single()
        X, squares = self._sent(single.centred), self._sent(single.squares)
        self._panels = []
        for low, high in itertools.pairwise(self._edges):
            D2 = squares[low:high, None] + squares[None, :high] - 2 * X[low:high] @ X[:high].T
            near = NEAR_RATIO * (squares[low:high, None] + squares[None, :high]) > D2
            far = D2 > 4 - 4 * NEAR_RATIO
            D2 = D2.clamp_(0, 4)
            half = torch.atan(torch.sqrt(D2 / (4 - D2)))
            rows.kernel.fill(D2, half, torch)
            H = D2
            for mask, sign in ((near, -1.0), (far, 1.0)):
                pairs = mask.nonzero().cpu().numpy()
                if len(pairs):
                    i, j = pairs[:, 0], pairs[:, 1]
                    values = pair_values(rows[low:high], rows[:high], i, j, sign)
                    H[mask] = self._sent(values.astype(np.float32))
            square = torch.tril(H[:, low:], -1)
            H[:, low:] = square + square.T
            H[:, low:].fill_diagonal_(self.diagonal)
            self._panels.append(H)
            advance(float((high - low) * (high + low) / 2))

    def product(self, V: Matrix) -> Matrix:
        """Multiply with every tile twice on the device: as it is, and transposed."""
        sent = self._sent(np.ascontiguousarray(V))
        out = self._torch.zeros_like(sent)
        for (low, high), H in zip(itertools.pairwise(self._edges), self._panels, strict=True):
            out[:, low:high] += sent[:, :high] @ H.T
            out[:, :low] += sent[:, low:high] @ H[:, :low]
        return np.asfortranarray(out.cpu().numpy())

    def part(self, rows: Index, columns: Index) -> Matrix:
        """Collect the part from the panels."""
        out = np.empty((len(rows), len(columns)), np.float32, order="F")
        for (low, high), H in zip(itertools.pairwise(self._edges), self._panels, strict=True):
            across = slice(*np.searchsorted(rows, (low, high)))
            before = slice(0, np.searchsorted(columns, high))
            out[across, before] = self._taken(H, rows[across] - low, columns[before])
            down = slice(*np.searchsorted(columns, (low, high)))
            left = slice(0, np.searchsorted(rows, low))
            out[left, down] = self._taken(H, columns[down] - low, rows[left]).T
        return out

    def _sent(self, array: Matrix) -> Any:
        return self._torch.from_numpy(array).to(self._device)

    def _taken(self, H: Any, rows: Index, columns: Index) -> Matrix:
        part: Matrix = H[self._sent_index(rows)][:, self._sent_index(columns)].cpu().numpy()
        return part

    def _sent_index(self, index: Index) -> Any:
        return self._torch.from_numpy(index).to(self._device)
