r"""The kernel matrix H of an infinitely wide two-layer ReLU network.

===========  =======  ==============================================================
symbol       shape    meaning
===========  =======  ==============================================================
x_i          p        an input, scaled to unit Euclidean norm
g_ij         scalar   ``x_i . x_j``, the cosine of the angle between two inputs
theta_ij     scalar   that angle
H            n x n    ``H_ij = g_ij (pi - theta_ij) / (2 pi)``; ``H_ii = 1/2`` exactly
D2_ij        scalar   ``|x_i - x_j|^2 = 2 - 2 g_ij``
===========  =======  ==============================================================

(paper, section 3.1). ``arccos g`` loses half of the digits where g is near +-1, which is where
near-duplicates live. H is therefore computed from distances,

    g = 1 - D2 / 2,    theta / 2 = arctan(|x_i - x_j| / |x_i + x_j|),    |x_i + x_j|^2 = 4 - D2,

with ``D2 = |a|^2 + |b|^2 - 2 a.b`` for rows shifted by a common centre (distances do not change,
and data that crowd around one direction keep their digits). The few pairs for which even that
cancels, closer than ``NEAR`` relative to their distance from the centre or as close to opposite,
are done again by subtracting (adding) the two rows.

Cost of a block of a x b entries: ``2 a b p`` flops in one matrix product, about a dozen passes
over ``a b`` numbers, and one temporary of ``8 a b`` bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, first_five

Array = NDArray[np.float64]

#: Pairs with ``D2 < NEAR * (|a|^2 + |b|^2)`` are recomputed without cancellation. The product
#: form is off by about ``eps (|a|^2 + |b|^2)``, so that entries of H are good to `ENTRY`.
NEAR = 1e-3

#: Error of an entry of H, at worst: ``eps sqrt(2 / NEAR) / pi`` at the border, and some for p.
ENTRY = 16 * float(np.finfo(np.float64).eps)

_CHUNK = 1 << 20  # numbers handled at once when rows are scaled or pairs recomputed
_BLOCK = 512  # side of the blocks that `gram` computes, small enough for the cache


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy of it, at an address that is a multiple of its numbers' size.

    Arrays that come through a network lie anywhere. Of those numpy copies each operand of a
    product, so that ``A @ A.T`` is no longer seen to be symmetric and is rounded differently, and
    BLAS itself may not be given them.
    """
    return np.require(array, requirements="A")


@dataclass(frozen=True)
class UnitRows:
    """Inputs on the unit sphere, stored relative to a centre; aligned, wherever they come from.

    Attributes
    ----------
    centred : (n, p) array
        ``x_i - centre``.
    centre : (p,) array
        The mean of the rows the centre was made from.
    squares : (n,) array
        Squared norms of the rows of ``centred``.
    """

    centred: Array
    centre: Array
    squares: Array

    def __post_init__(self) -> None:
        for name in ("centred", "centre", "squares"):
            object.__setattr__(self, name, aligned(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:  # through the above, which pickle alone would skip
        return UnitRows, (self.centred, self.centre, self.squares)

    def __len__(self) -> int:
        return len(self.centred)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> UnitRows:
        return UnitRows(self.centred[rows], self.centre, self.squares[rows])

    def compacted(self, rows: NDArray[np.intp]) -> UnitRows:
        """Only the given rows, in ascending order, moved to the front without a second copy."""
        for start in range(0, len(rows), 1024):
            part = rows[start : start + 1024]
            self.centred[start : start + len(part)] = self.centred[part]
        return UnitRows(self.centred[: len(rows)], self.centre, self.squares[rows])

    def single(self) -> UnitRows:
        """The rows in float32; the squares stay those of the float64 rows, rounded."""
        parts: list[Any] = [self.centred, self.centre, self.squares]
        return UnitRows(*(part.astype(np.float32) for part in parts))


def unit_rows(X: ArrayLike, *, centre: Array | None = None, name: str = "X") -> UnitRows:
    """Rows of X scaled to unit norm, ready for `gram_block`.

    Parameters
    ----------
    X : (n, ...) array
        Numbers of any real type; axes after the first are flattened.
    centre : (p,) array, optional
        The centre of the rows these will be compared with; their own mean by default.
    name : str
        How error messages call X.

    Raises
    ------
    DataError
        Not a table of real numbers, NaN or infinite values (the first is named by row and
        column), or rows of zeros only, which have no direction.
    """
    raw = as_matrix(X, name)
    n, p = raw.shape
    unit = np.empty((n, p))
    step = max(1, _CHUNK // p)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        unit[rows] = raw[rows]
        _scale(unit[rows], start, name)
    if centre is None:
        centre = unit.mean(axis=0) if n else np.zeros(p)
    elif len(centre) != p:
        raise DataError(
            f"{name} has {p:,} columns, but the data it is compared with have {len(centre):,}. "
            "Give both the same columns."
        )
    unit -= centre
    return UnitRows(unit, centre, np.einsum("ij,ij->i", unit, unit))


def as_matrix(X: ArrayLike, name: str = "X") -> NDArray[Any]:
    """X as a two-dimensional array of real numbers, in its own number type."""
    try:
        raw = np.asarray(X)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{name} is no table of numbers ({error}). Expected one row of numbers per example, "
            "all of one length."
        ) from error
    if raw.dtype.kind == "O":
        try:
            raw = raw.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"{name} holds values that are not numbers ({error}). Expected numbers only; "
                "cgscore.read encodes tables with text columns."
            ) from error
    if raw.dtype.kind not in "buif":
        raise DataError(
            f"{name} holds values of type {raw.dtype}. Expected real numbers; "
            "cgscore.read encodes tables with text columns."
        )
    if raw.ndim < 2:
        raise DataError(
            f"{name} has the shape {raw.shape}. Expected one row of numbers per example: (n, p)."
        )
    raw = raw.reshape(len(raw), int(np.prod(raw.shape[1:])))  # -1 is ambiguous when n is 0
    if raw.shape[1] == 0:
        raise DataError(f"{name} has no columns. Expected at least one number per example.")
    return raw


def _scale(block: Array, start: int, name: str) -> None:
    """Scale the rows of `block` to unit norm in place; `start` is the position of its first row."""
    largest = np.abs(block).max(axis=1)  # NaN and infinity show here
    if not np.isfinite(largest).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        raise DataError(
            f"{name} has the value {block[row, column]} in row {start + row}, column {column} "
            "(both counted from 0). Remove or fill such values first."
        )
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        names = first_five(start + zero)
        raise DataError(
            f"{name} has rows that are zero in every column: {names} (counted from 0). Such rows "
            "have no direction on the unit sphere. Remove them, or add a constant column."
        )
    block /= largest[:, None]  # so that no square overflows or underflows
    block /= np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]


def gram_block(
    A: UnitRows,
    B: UnitRows,
    out: Array | None = None,
    *,
    precise: tuple[UnitRows, UnitRows] | None = None,
) -> Array:
    """H between the rows of A and the rows of B, as an (a, b) array.

    Equal rows give exactly 1/2. `out`, if given, receives the block; its rows are contiguous.
    Rows in float32 give a block in float32; `precise` are then the same rows in float64, from which
    the pairs that need it are computed.
    """
    H = np.matmul(A.centred, B.centred.T, out=out)
    H *= -2
    H += A.squares[:, None]
    H += B.squares  # H holds D2 from here on
    if H.size == 0:
        return H
    low, high = H.min(), H.max()
    near: tuple[NDArray[np.intp], ...] | None = None
    far: tuple[NDArray[np.intp], ...] | None = None
    if low < NEAR * (A.squares.max() + B.squares.max()):
        near = np.nonzero(NEAR * (A.squares[:, None] + B.squares) > H)
    if high > 4 - 4 * NEAR:
        far = np.nonzero(H > 4 - 4 * NEAR)
    if low < 0 or high > 4:
        np.clip(H, 0, 4, out=H)  # by rounding, at pairs that are recomputed below
    half = np.subtract(4, H)
    with np.errstate(divide="ignore"):  # D2 = 4: the quotient is infinite, its arctan pi / 2
        np.divide(H, half, out=half)
    np.sqrt(half, out=half)
    np.arctan(half, out=half)  # half the angle
    half *= -1 / np.pi
    half += 0.5
    H *= -0.5
    H += 1
    H *= half
    for pairs, sign in ((near, -1.0), (far, 1.0)):
        if pairs is not None:
            H[pairs] = pair_values(*(precise or (A, B)), pairs[0], pairs[1], sign)
    return H


def pair_values(
    A: UnitRows, B: UnitRows, rows: NDArray[np.intp], columns: NDArray[np.intp], sign: float
) -> Array:
    """H of single pairs from ``|x_i + sign x_j|^2``, which is accurate where it is small."""
    values = np.empty(len(rows))
    step = max(1, _CHUNK // A.centred.shape[1])
    shift = 0 if sign < 0 else 2 * A.centre
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        total = A.centred[rows[part]] + sign * B.centred[columns[part]] + shift
        small = np.einsum("ij,ij->i", total, total)
        if sign < 0:  # small = D2
            g, sides = 1 - small / 2, (np.sqrt(4 - small), np.sqrt(small))
        else:  # small = 4 - D2
            g, sides = small / 2 - 1, (np.sqrt(small), np.sqrt(4 - small))
        values[part] = g * np.arctan2(*sides) / np.pi
    return values


def gram(X: ArrayLike, Z: ArrayLike | None = None) -> Array:
    """The kernel matrix of the rows of X, or of the rows of X against the rows of Z.

    Parameters
    ----------
    X : (n, p) array
        Inputs; every row is scaled to unit norm first.
    Z : (m, p) array, optional
        Other inputs; X itself by default, and then the diagonal is exactly 1/2.

    Returns
    -------
    (n, n) or (n, m) array of float64
    """
    A = unit_rows(X)
    B = A if Z is None else unit_rows(Z, centre=A.centre, name="Z")
    H = np.empty((len(A), len(B)))
    for i in range(0, len(A), _BLOCK):
        for j in range(0, i + 1 if Z is None else len(B), _BLOCK):
            rows, columns = slice(i, i + _BLOCK), slice(j, j + _BLOCK)
            block = gram_block(A[rows], B[columns])
            if Z is None and i == j:
                block = np.tril(block, -1)
                block += block.T
                np.fill_diagonal(block, 0.5)
            H[rows, columns] = block
            if Z is None:
                H[columns, rows] = block.T
    return H
