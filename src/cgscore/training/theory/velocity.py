r"""Kernel velocity: how fast the tangent kernel of a group of examples turns (paper, appendix I).

========  =========  ==============================================================
symbol    shape      meaning
========  =========  ==============================================================
Psi_t     m C x N    derivatives of all C logits of m examples by all N parameters
K_t       m C x m C  ``Psi_t Psi_t^T``, the tangent kernel after epoch t
v_t       scalar     ``1 - <K_t, K_t+1> / (|K_t| |K_t+1|)``, Frobenius
========  =========  ==============================================================

Psi_t rarely fits in memory (125 examples of ResNet18 with 10 classes: 56 GB). Of its rows a block
is held, and the others pass by in small ones; examples are differentiated again for every held
block, so that half the memory takes twice the time. Networks are in evaluation mode.

The velocity is computed as ``|K_t / |K_t| - K_t+1 / |K_t+1||^2 / 2``, which is the same and does
not cancel: it is exactly 0 where nothing moves.

For the two-layer network of the theory, ``H_t`` (`active_kernel`) takes the place of ``K_t``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from cgscore.errors import DataError, MemoryLimitError, OptionError
from cgscore.execution.accelerator import usable
from cgscore.execution.machine import parse_bytes, show_bytes
from cgscore.kernel import Array
from cgscore.training.loop.checkpoints import Checkpoint, evaluated, restored
from cgscore.training.loop.inputs import Given, as_inputs
from cgscore.training.scores.levels import LEVELS, levels
from cgscore.training.theory.tangent import MAKING, Tangent, within
from cgscore.training.theory.two_layer import active_kernel

GROUP = 125  # examples of each level that the paper takes


def velocity_groups(
    scores: ArrayLike, *, count: int = LEVELS, size: int = GROUP
) -> list[NDArray[np.intp]]:
    """Positions of the first `size` examples of each level of a score, levels ascending."""
    groups = levels(scores, count)
    if not 1 <= size <= len(groups[-1]):
        raise OptionError(
            f"size={size!r} does not fit levels of {len(groups[-1]):,} examples. Expected 1 to "
            f"{len(groups[-1]):,}."
        )
    return [group[:size] for group in groups]


def velocity(before: ArrayLike, after: ArrayLike) -> float:
    """Cosine distance of two kernel matrices: 0 where they are multiples of each other."""
    K, L = np.asarray(before, np.float64), np.asarray(after, np.float64)
    sizes = np.linalg.norm(K), np.linalg.norm(L)
    if K.shape != L.shape or not 0 < min(sizes) <= max(sizes) < np.inf:
        raise DataError(
            f"The kernel matrices have the shapes {K.shape} and {L.shape} and the norms "
            f"{sizes[0]:g} and {sizes[1]:g}. Expected one shape and positive norms."
        )
    return float(np.linalg.norm(K / sizes[0] - L / sizes[1])) ** 2 / 2


def tangent_kernel(
    model: nn.Module,
    X: Given,
    *,
    memory_limit: int | str = "2GB",
    device: str = "cpu",
) -> Array:
    """``K_t`` of all examples; rows are examples, logits within them.

    Parameters
    ----------
    model : module
    X : Inputs, array or tensor
        m examples; arrays are taken as they are.
    memory_limit : int or str
        Bytes for the derivatives that exist at once; activations and K itself come on top.
    device : str
        Where to compute.

    Returns
    -------
    (m C, m C) array
    """
    place = usable(device)
    inputs = as_inputs(X).batch(slice(None)).to(place)
    with evaluated(model.to(place)):
        tangent = Tangent(model)
        k = tangent.outputs(inputs[:1])
        room = within(memory_limit, k * tangent.bytes, least=1 + MAKING)
        passing = max(1, room // (4 * MAKING))  # examples; these take a quarter
        held = room - MAKING * passing
        K = np.empty((len(inputs) * k, len(inputs) * k))
        for start in range(0, len(inputs), held):
            _fill(K, tangent, inputs, slice(start, min(start + held, len(inputs))), passing)
    return K


def _fill(K: Array, tangent: Tangent, X: Tensor, held: slice, passing: int) -> None:
    """Rows and columns of K of the held examples, against themselves and those after them."""
    k = len(K) // len(X)
    block = tangent.jacobian(X[held], step=passing)
    rows = slice(held.start * k, held.stop * k)
    K[rows, rows] = _product(block, block)
    for first in range(held.stop, len(X), passing):
        part = X[first : first + passing]
        columns = slice(first * k, (first + len(part)) * k)
        K[rows, columns] = _product(block, tangent.jacobian(part, step=passing))
        K[columns, rows] = K[rows, columns].T


def _product(A: list[Tensor], B: list[Tensor]) -> Array:
    """Sum over parameters of ``A B^T``, added up in float64."""
    total = (A[0] @ B[0].T).double()
    for one, other in zip(A[1:], B[1:], strict=True):
        total += one @ other.T
    found: Array = total.cpu().numpy()
    return found


def kernel_velocity(
    checkpoints: Iterable[Checkpoint],
    X: Given,
    groups: Sequence[ArrayLike],
    *,
    model: nn.Module | None = None,
    memory_limit: int | str = "2GB",
    device: str = "cpu",
) -> Array:
    """Velocities of groups of examples between consecutive checkpoints.

    Parameters
    ----------
    checkpoints : iterable of modules or state dicts
        The network epoch by epoch; generators are read one at a time.
    X : Inputs, array or tensor
        Arrays are taken as they are.
    groups : sequence of arrays
        Positions of the examples of each group, as of `velocity_groups`.
    model : module, optional
        The network that state dicts belong to.
    memory_limit, device
        As for `tangent_kernel`.

    Returns
    -------
    (checkpoints - 1, groups) array
    """
    inputs = as_inputs(X)
    limit = parse_bytes(memory_limit)

    def checked(net: nn.Module) -> nn.Module:
        """Refuse kernels that do not fit: those of two checkpoints exist at once."""
        with evaluated(net):
            k = Tangent(net).outputs(inputs.batch(slice(0, 1)).to(next(net.parameters()).device))
        size = sum(16 * (len(np.asarray(group)) * k) ** 2 for group in groups)
        if size > limit:
            raise MemoryLimitError(
                f"The kernel matrices of {len(groups)} groups at two checkpoints take "
                f"{show_bytes(size)}, more than memory_limit={memory_limit!r}. Give fewer or "
                "smaller groups, or a higher limit."
            )
        return net

    kernels = (
        [
            tangent_kernel(net, some, memory_limit=memory_limit, device=device)
            for some in (inputs.batch(torch.as_tensor(np.asarray(group))) for group in groups)
        ]
        for net in map(checked, restored(checkpoints, model))
    )
    return _velocities(kernels, len(groups))


def two_layer_velocity(
    weights: Iterable[ArrayLike], X: ArrayLike, groups: Sequence[ArrayLike]
) -> Array:
    """The same for the two-layer network, with ``H_t`` in place of ``K_t``.

    Parameters
    ----------
    weights : iterable of (width, p) arrays
        Weights of the first layer at consecutive times.
    X : (n, p) array
        Inputs; every row is scaled to unit norm first.
    groups : sequence of arrays
        Positions of the examples of each group.

    Returns
    -------
    (times - 1, groups) array
    """
    inputs = np.asarray(X)
    kernels = ([active_kernel(W, inputs[np.asarray(group)]) for group in groups] for W in weights)
    return _velocities(kernels, len(groups))


def _velocities(kernels: Iterable[list[Array]], groups: int) -> Array:
    """Velocities between consecutive times of lists of kernel matrices."""
    found = [
        [velocity(K, L) for K, L in zip(before, after, strict=True)]
        for before, after in pairwise(kernels)
    ]
    if not found:
        raise DataError("A velocity is between two moments. Expected two or more.")
    return np.array(found).reshape(-1, groups)
