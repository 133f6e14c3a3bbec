r"""Kernel velocity: how fast the tangent kernel of a group of examples changes (paper, appendix I).

========  =========  ==============================================================
symbol    shape      meaning
========  =========  ==============================================================
Psi_t     m C x N    derivatives of all C logits of m examples by all N parameters
K_t       m C x m C  ``Psi_t Psi_t^T``, the tangent kernel after epoch t
v_t       scalar     ``1 - <K_t, K_t+1> / (|K_t| |K_t+1|)``, Frobenius
========  =========  ==============================================================

Psi_t rarely fits in memory (125 examples of ResNet-18 with 10 classes: 56 GB). A large block of its
rows is kept in memory and multiplied by the other rows, which are computed in small blocks. The
other rows are computed again for every large block, so that half the memory takes twice the time.
Networks are in evaluation mode.

The velocity is computed as ``|K_t / |K_t| - K_t+1 / |K_t+1||^2 / 2``, which is equal and avoids
cancellation: it is exactly 0 if the kernel does not change.

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
from cgscore.training.loop.checkpoints import Checkpoint, evaluation_mode, restored
from cgscore.training.loop.inputs import InputsLike, as_inputs
from cgscore.training.networks.gradients import PEAK_FACTOR, ExampleGradients, count_within
from cgscore.training.scores.levels import LEVEL_COUNT, levels
from cgscore.training.theory.two_layer import active_kernel
from cgscore.typing import Array

GROUP_SIZE = 125  # examples of each level in the paper


def velocity_groups(
    scores: ArrayLike, *, count: int = LEVEL_COUNT, size: int = GROUP_SIZE
) -> list[NDArray[np.intp]]:
    """Positions of the first `size` examples of each level of a score, levels ascending."""
    groups = levels(scores, count)
    if not 1 <= size <= len(groups[-1]):
        raise OptionError(
            f"size must be from 1 to the size of a level, {len(groups[-1]):,}; got {size!r}."
        )
    return [group[:size] for group in groups]


def velocity(before: ArrayLike, after: ArrayLike) -> float:
    """Cosine distance of two kernel matrices: 0 if one is a multiple of the other."""
    K, L = np.asarray(before, np.float64), np.asarray(after, np.float64)
    sizes = np.linalg.norm(K), np.linalg.norm(L)
    if K.shape != L.shape or not 0 < min(sizes) <= max(sizes) < np.inf:
        raise DataError(
            f"The kernel matrices have the shapes {K.shape} and {L.shape} and the norms "
            f"{sizes[0]:g} and {sizes[1]:g}. Expected the same shape and positive norms."
        )
    return float(np.linalg.norm(K / sizes[0] - L / sizes[1])) ** 2 / 2


def tangent_kernel(
    model: nn.Module,
    X: InputsLike,
    *,
    memory_limit: int | str = "2GB",
    device: str = "cpu",
) -> Array:
    """``K_t`` of all examples; rows are the logits of the first example, then of the second, ...

    Parameters
    ----------
    model : module
    X : Inputs, array or tensor
        m examples; arrays are used without normalisation.
    memory_limit : int or str
        Bytes for derivatives that are in memory at the same time; activations and K come on top.
    device : str
        Torch device to compute on.

    Returns
    -------
    (m C, m C) array
    """
    place = usable(device)
    inputs = as_inputs(X).batch(slice(None)).to(place)
    with evaluation_mode(model.to(place)):
        gradients = ExampleGradients(model)
        k = gradients.output_count(inputs[:1])
        room = count_within(memory_limit, k * gradients.bytes, minimum=1 + PEAK_FACTOR)
        step = max(1, room // (4 * PEAK_FACTOR))  # examples of a small block, a quarter of the room
        size = room - PEAK_FACTOR * step
        K = np.empty((len(inputs) * k, len(inputs) * k))
        for start in range(0, len(inputs), size):
            _fill(K, gradients, inputs, slice(start, min(start + size, len(inputs))), step)
    return K


def _fill(K: Array, gradients: ExampleGradients, X: Tensor, block: slice, step: int) -> None:
    """Fill the rows and columns of a block of examples, against itself and later examples."""
    k = len(K) // len(X)
    derivatives = gradients.jacobian(X[block], step=step)
    rows = slice(block.start * k, block.stop * k)
    K[rows, rows] = _product(derivatives, derivatives)
    for first in range(block.stop, len(X), step):
        part = X[first : first + step]
        columns = slice(first * k, (first + len(part)) * k)
        K[rows, columns] = _product(derivatives, gradients.jacobian(part, step=step))
        K[columns, rows] = K[rows, columns].T


def _product(A: list[Tensor], B: list[Tensor]) -> Array:
    """Sum over parameters of ``A B^T``, accumulated in float64."""
    total = (A[0] @ B[0].T).double()
    for a, b in zip(A[1:], B[1:], strict=True):
        total += a @ b.T
    product: Array = total.cpu().numpy()
    return product


def kernel_velocity(
    checkpoints: Iterable[Checkpoint],
    X: InputsLike,
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
        The network after consecutive epochs. Generators are consumed one checkpoint at a time.
    X : Inputs, array or tensor
        Arrays are used without normalisation.
    groups : sequence of arrays
        Positions of the examples of each group, for example of `velocity_groups`.
    model : module, optional
        The network of the state dicts.
    memory_limit, device
        As for `tangent_kernel`.

    Returns
    -------
    (checkpoints - 1, groups) array
    """
    inputs = as_inputs(X)
    limit = parse_bytes(memory_limit)

    def check_memory(network: nn.Module) -> nn.Module:
        """Reject kernels that do not fit: those of two checkpoints are in memory together."""
        with evaluation_mode(network):
            device_used = next(network.parameters()).device
            example = inputs.batch(slice(0, 1)).to(device_used)
            k = ExampleGradients(network).output_count(example)
        size = sum(16 * (len(np.asarray(group)) * k) ** 2 for group in groups)
        if size > limit:
            raise MemoryLimitError(
                f"memory_limit is {memory_limit!r}, and the kernel matrices of {len(groups)} "
                f"groups at two checkpoints take {show_bytes(size)}. Give fewer or smaller groups, "
                "or raise memory_limit."
            )
        return network

    def kernel(network: nn.Module, group: ArrayLike) -> Array:
        examples = inputs.batch(torch.as_tensor(np.asarray(group)))
        return tangent_kernel(network, examples, memory_limit=memory_limit, device=device)

    kernels = (
        [kernel(network, group) for group in groups]
        for network in map(check_memory, restored(checkpoints, model))
    )
    return _velocities(kernels, len(groups))


def two_layer_velocity(
    weights: Iterable[ArrayLike], X: ArrayLike, groups: Sequence[ArrayLike]
) -> Array:
    """Velocities of groups of examples for the two-layer network: ``H_t`` in place of ``K_t``.

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
    """Velocities of the kernel matrices of each group between consecutive times."""
    velocities = [
        [velocity(K, L) for K, L in zip(before, after, strict=True)]
        for before, after in pairwise(kernels)
    ]
    if not velocities:
        raise DataError("A velocity is a change between two checkpoints. Expected two or more.")
    return np.array(velocities).reshape(-1, groups)
