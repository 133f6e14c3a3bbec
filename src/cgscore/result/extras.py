"""Quantities of the paper that are computed on request: CG', its approximation, and the error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cgscore.data import Dataset
from cgscore.errors import OptionError
from cgscore.kernel import Kernel, gram_block, unit_rows
from cgscore.labels import as_labels
from cgscore.typing import Array
from cgscore.valuation import cg_approx, cg_prime

EXTRAS = ("cg_prime", "cg_approx", "accumulated_error")

STRIP_ROWS = 256  # rows of H held at a time


def extra_columns(
    names: Sequence[str],
    *,
    alpha: Array,
    ridge: float,
    eta: float,
    task: str,
    kernel: Kernel,
    dataset: Callable[[], Dataset],
) -> dict[str, Array]:
    """The quantities of these names, in their order.

    Parameters
    ----------
    names : sequence of str
        Names among `EXTRAS`; all of them where it is empty.
    alpha : (n,) array
        Solution of the kernel system for each example's own class.
    ridge : float
        Ridge of the scores.
    eta : float
        Step size of gradient descent.
    task : str
        Whether labels are classes or numbers.
    kernel : Kernel
        Of the scores.
    dataset : callable
        Opens the scored data; called only where a quantity needs them.

    Raises
    ------
    OptionError
        There is no quantity of a name, or it is not defined for these scores.
    """
    names = names or EXTRAS
    for name in names:
        if name not in EXTRAS:
            raise OptionError(f"A quantity must be one of {', '.join(EXTRAS)}; got {name!r}.")
    columns: dict[str, Array] = {}
    if "accumulated_error" in names:
        columns["accumulated_error"] = accumulated_error(alpha, ridge, eta)
    if "cg_prime" in names or "cg_approx" in names:
        y, Hy = kernel_times_targets(dataset(), task, kernel)
        columns["cg_prime"] = cg_prime(y, Hy, kernel.diagonal)
        columns["cg_approx"] = cg_approx(y, Hy, kernel.diagonal)
    return {name: columns[name] for name in names}


def accumulated_error(alpha: Array, ridge: float, eta: float) -> Array:
    """The training error summed over all steps of gradient descent, ``alpha_i / eta``."""
    if ridge != 0:
        raise OptionError(
            f"accumulated_error is defined for ridge 0 only; these scores have ridge {ridge:g}."
        )
    if not eta > 0:
        raise OptionError(f"eta must be a step size above 0; got {eta!r}.")
    return alpha / eta


def kernel_times_targets(dataset: Dataset, task: str, kernel: Kernel) -> tuple[Array, Array]:
    """y_i and (H y)_i with the targets of each example's own class: 2 n^2 (p + k) flops."""
    if dataset.y is None:  # the fingerprint includes the labels
        raise OptionError("data has no labels; expected the data that were scored.")
    labels = as_labels(dataset.y, len(dataset), task)
    Y, rows = labels.targets(), unit_rows(dataset.X, kernel=kernel)
    Hy = np.empty(len(rows))
    for start in range(0, len(rows), STRIP_ROWS):
        strip = slice(start, start + STRIP_ROWS)
        H = gram_block(rows[strip], rows)
        np.fill_diagonal(H[:, strip], kernel.diagonal)
        product = H @ Y
        Hy[strip] = product[np.arange(len(product)), labels.codes[strip]]
    return Y[np.arange(len(rows)), labels.codes], Hy
