r"""The kernel matrix H of infinitely wide ReLU networks: the paper's, and others to try.

===========  =======  ==============================================================
symbol       shape    meaning
===========  =======  ==============================================================
x_i          p        an input, scaled to unit Euclidean norm
g_ij         scalar   ``x_i . x_j``, the cosine of the angle between two inputs
theta_ij     scalar   that angle
H            n x n    ``relu``, the paper's: ``H_ij = g_ij (pi - theta_ij) / (2 pi)``
D2_ij        scalar   ``|x_i - x_j|^2 = 2 - 2 g_ij``
===========  =======  ==============================================================

(paper, section 3.1). This file alone knows the formula of a kernel and the value of its diagonal,
which is that of equal rows, ``H_ii = 1/2`` for the paper's. A kernel is one entry of `KERNELS`;
`UnitRows` carry theirs along.

``arccos g`` loses half of the digits where g is near +-1, which is where
near-duplicates live. H is therefore computed from distances,

    g = 1 - D2 / 2,    theta / 2 = arctan(|x_i - x_j| / |x_i + x_j|),    |x_i + x_j|^2 = 4 - D2,

with ``D2 = |a|^2 + |b|^2 - 2 a.b`` for rows shifted by a common centre (distances do not change,
and data that crowd around one direction keep their digits). The few pairs for which even that
cancels, closer than ``NEAR_RATIO`` relative to their distance from the centre or as close to
opposite, are done again by subtracting (adding) the two rows.

Cost of a block of a x b entries: ``2 a b p`` flops in one matrix product, about a dozen passes
over ``a b`` numbers, and one temporary of ``8 a b`` bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgscore.errors import DataError, OptionError, first_five
from cgscore.typing import Array

#: Pairs with ``D2 < NEAR_RATIO * (|a|^2 + |b|^2)`` are recomputed without cancellation. The product
#: form is off by about ``eps (|a|^2 + |b|^2)``, so that entries of H are good to `ENTRY_ERROR`.
NEAR_RATIO = 1e-3

#: Error of an entry of H, at worst: ``eps sqrt(2 / NEAR_RATIO) / pi`` at the border, and p.
ENTRY_ERROR = 16 * float(np.finfo(np.float64).eps)

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
class Kernel:
    """A function of the angle between two inputs.

    Attributes
    ----------
    name : str
        What users call it by.
    diagonal : float
        Its value for equal rows.
    summary : str
        One line for documentation.
    fill : function
        ``fill(D2, half, xp)`` overwrites the array D2 of squared distances with values of H;
        ``half`` holds half of every angle and may be overwritten too, ``xp`` is numpy or torch.
    pair : function
        ``pair(g, D2, S2)``: values of H for single pairs from their cosine, ``|x_i - x_j|^2`` and
        ``|x_i + x_j|^2``, of which the smaller one is accurate.
    """

    name: str
    diagonal: float
    summary: str
    fill: Callable[[Any, Any, Any], None]
    pair: Callable[[Array, Array, Array], Array]


def _fill_relu(D2: Any, half: Any, xp: Any) -> None:
    """``g (pi - theta) / (2 pi)``."""
    half *= -1 / np.pi
    half += 0.5
    D2 *= -0.5
    D2 += 1
    D2 *= half


def _pair_relu(g: Array, D2: Array, S2: Array) -> Array:
    values: Array = g * np.arctan2(np.sqrt(S2), np.sqrt(D2)) / np.pi
    return values


def _fill_relu_3(D2: Any, half: Any, xp: Any) -> None:
    r"""Two hidden layers, both trained: ``(g k0(g) + k1(g)) k0(k1(g)) / 2``.

    Half of the tangent kernel of a network with weights of variance 2 / width, as the paper's
    kernel is half of such a one, ``g k0(g)``. The arc-cosine kernels are ``k0(g) = 1 - theta / pi``
    and ``k1(g) = (g (pi - theta) + sin theta) / pi``. Where g is near 1,
    ``1 - k1 = D2 / 2 - (sin theta - theta g) / pi`` keeps its digits, and so does the angle of the
    second layer, ``2 arcsin sqrt((1 - k1) / 2)``.
    """
    theta, g = 2 * half, 1 - D2 / 2
    left = xp.clip(D2 / 2 - (xp.sin(theta) - theta * g) / np.pi, 0, 1)  # 1 - k1
    inner = g * (1 - theta / np.pi) + (1 - left)
    D2[...] = inner * (0.5 - xp.arcsin(xp.sqrt(left / 2)) / np.pi)


def _pair_relu_3(g: Array, D2: Array, S2: Array) -> Array:
    values = np.where(D2 < S2, D2, 4 - S2)
    _fill_relu_3(values, np.arctan2(np.sqrt(D2), np.sqrt(S2)), np)
    return values


RELU = Kernel(
    "relu",
    0.5,
    "the paper's: a two-layer ReLU network of which the first layer is trained",
    _fill_relu,
    _pair_relu,
)

#: By name. Those beside the paper's are experiments: nothing in the paper says what they are worth.
KERNELS = {
    kernel.name: kernel
    for kernel in (
        RELU,
        Kernel(
            "relu-ntk-3",
            1.0,
            "an experiment: the neural tangent kernel of a ReLU network with two hidden layers",
            _fill_relu_3,
            _pair_relu_3,
        ),
    )
}


def find_kernel(name: str) -> Kernel:
    """The kernel of this name.

    Raises
    ------
    OptionError
        There is none.
    """
    if name not in KERNELS:
        known = ", ".join(KERNELS)
        raise OptionError(f"kernel must be one of: {known}; got {name!r}.")
    return KERNELS[name]


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
    kernel : Kernel
        What `gram_block` computes for these rows.
    """

    centred: Array
    centre: Array
    squares: Array
    kernel: Kernel = field(default=RELU)

    def __post_init__(self) -> None:
        for name in ("centred", "centre", "squares"):
            object.__setattr__(self, name, aligned(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:  # through the above, which pickle alone would skip
        return _restored, (self.centred, self.centre, self.squares, self.kernel.name)

    def __len__(self) -> int:
        return len(self.centred)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, p = self.centred.shape
        return n, p

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> UnitRows:
        return UnitRows(self.centred[rows], self.centre, self.squares[rows], self.kernel)

    def compacted(self, rows: NDArray[np.intp]) -> UnitRows:
        """Only the given rows, in ascending order, moved to the front without a second copy."""
        for start in range(0, len(rows), 1024):
            part = rows[start : start + 1024]
            self.centred[start : start + len(part)] = self.centred[part]
        return UnitRows(self.centred[: len(rows)], self.centre, self.squares[rows], self.kernel)

    def single(self) -> UnitRows:
        """The rows in float32; the squares stay those of the float64 rows, rounded."""
        parts: tuple[Any, Any, Any] = (self.centred, self.centre, self.squares)
        centred, centre, squares = (part.astype(np.float32) for part in parts)
        return UnitRows(centred, centre, squares, self.kernel)


def _restored(centred: Array, centre: Array, squares: Array, kernel: str) -> UnitRows:
    """Rows that were pickled: kernels go by name, since functions of other versions may differ."""
    return UnitRows(centred, centre, squares, find_kernel(kernel))


def unit_rows(
    X: ArrayLike,
    *,
    centre: Array | None = None,
    name: str = "X",
    kernel: Kernel = RELU,
    positions: NDArray[np.intp] | None = None,
) -> UnitRows:
    """Rows of X scaled to unit norm, ready for `gram_block`.

    Parameters
    ----------
    X : (n, ...) array
        Numbers of any real type; axes after the first are flattened.
    centre : (p,) array, optional
        The centre of the rows these will be compared with; their own mean by default.
    name : str
        How error messages call X.
    kernel : Kernel
        What `gram_block` will compute.
    positions : (n,) array, optional
        What error messages call the rows, if X is a part of more; 0, 1, ... by default.

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
        _scale(unit[rows], np.r_[rows] if positions is None else positions[rows], name)
    if centre is None:
        centre = unit.mean(axis=0) if n else np.zeros(p)
    elif len(centre) != p:
        raise DataError(
            f"{name} has {p:,} columns, but the data it is compared with have {len(centre):,}. "
            "Give both the same columns."
        )
    unit -= centre
    return UnitRows(unit, centre, np.einsum("ij,ij->i", unit, unit), kernel)


def as_matrix(X: ArrayLike, name: str = "X") -> NDArray[Any]:
    """X as a two-dimensional array of real numbers, in its own number type."""
    try:
        raw = np.asarray(X)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{name} is not a table of numbers ({error}). Expected one row of numbers per example, "
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


def _scale(block: Array, positions: NDArray[np.intp], name: str) -> None:
    """Scale the rows of `block` to unit norm in place; messages call them by their positions."""
    largest = np.abs(block).max(axis=1)  # NaN and infinity show here
    if not np.isfinite(largest).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        raise DataError(
            f"{name} has the value {block[row, column]} in row {positions[row]}, column {column} "
            "(both counted from 0). Remove or fill such values first."
        )
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        names = first_five(positions[zero])
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

    Equal rows give exactly the kernel's diagonal. `out`, if given, receives the block; its rows are
    contiguous. Rows in float32 give a block in float32; `precise` are then the same rows in
    float64, from which the pairs that need it are computed.
    """
    kernel = A.kernel
    H = np.matmul(A.centred, B.centred.T, out=out)
    H *= -2
    H += A.squares[:, None]
    H += B.squares  # H holds D2 from here on
    if H.size == 0:
        return H
    low, high = H.min(), H.max()
    near: tuple[NDArray[np.intp], ...] | None = None
    far: tuple[NDArray[np.intp], ...] | None = None
    if low < NEAR_RATIO * (A.squares.max() + B.squares.max()):
        near = np.nonzero(NEAR_RATIO * (A.squares[:, None] + B.squares) > H)
    if high > 4 - 4 * NEAR_RATIO:
        far = np.nonzero(H > 4 - 4 * NEAR_RATIO)
    if low < 0 or high > 4:
        np.clip(H, 0, 4, out=H)  # by rounding, at pairs that are recomputed below
    half = np.subtract(4, H)
    with np.errstate(divide="ignore"):  # D2 = 4: the quotient is infinite, its arctan pi / 2
        np.divide(H, half, out=half)
    np.sqrt(half, out=half)
    np.arctan(half, out=half)  # half the angle
    kernel.fill(H, half, np)
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
            values[part] = A.kernel.pair(1 - small / 2, small, 4 - small)
        else:  # small = 4 - D2
            values[part] = A.kernel.pair(small / 2 - 1, 4 - small, small)
    return values


def own_gram(rows: UnitRows, ridge: float = 0.0) -> Array:
    """``H + ridge I`` of a few rows in one block: its diagonal is the kernel's, to the bit."""
    H = gram_block(rows, rows)
    np.fill_diagonal(H, rows.kernel.diagonal + ridge)
    return H


def gram(X: ArrayLike, Z: ArrayLike | None = None, *, kernel: str = "relu") -> Array:
    """The kernel matrix of the rows of X, or of the rows of X against the rows of Z.

    Parameters
    ----------
    X : (n, p) array
        Inputs; every row is scaled to unit norm first.
    Z : (m, p) array, optional
        Other inputs; X itself by default, and then the diagonal is exact (1/2 for the paper's).
    kernel : str
        The paper's by default; others are experiments (`KERNELS`).

    Returns
    -------
    (n, n) or (n, m) array of float64
    """
    A = unit_rows(X, kernel=find_kernel(kernel))
    B = A if Z is None else unit_rows(Z, centre=A.centre, name="Z", kernel=A.kernel)
    H = np.empty((len(A), len(B)))
    for i in range(0, len(A), _BLOCK):
        for j in range(0, i + 1 if Z is None else len(B), _BLOCK):
            rows, columns = slice(i, i + _BLOCK), slice(j, j + _BLOCK)
            block = gram_block(A[rows], B[columns])
            if Z is None and i == j:
                block = np.tril(block, -1)
                block += block.T
                np.fill_diagonal(block, A.kernel.diagonal)
            H[rows, columns] = block
            if Z is None:
                H[columns, rows] = block.T
    return H
