"""Gradients of a network with respect to its parameters, for single examples.

Only parameters that require a gradient count. The network must be in evaluation mode: with batch
statistics the gradient of an example would depend on the other examples of its batch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, vmap
from torch.nn.functional import cross_entropy

from cgscore.errors import MemoryLimitError
from cgscore.execution.machine import parse_bytes, show_bytes

#: Peak memory while derivatives are computed, as a multiple of their own size (measured).
PEAK_FACTOR = 3


def count_within(memory_limit: int | str, size: int, minimum: int = 1) -> int:
    """How many derivatives of `size` bytes fit in `memory_limit`.

    Raises
    ------
    MemoryLimitError
        Fewer than `minimum` fit.
    """
    limit = parse_bytes(memory_limit)
    if minimum * size > limit:
        raise MemoryLimitError(
            f"memory_limit is {show_bytes(limit)}, and the derivatives take at least "
            f"{show_bytes(minimum * size)}. Raise memory_limit."
        )
    return limit // size


class ExampleGradients:
    """Derivatives of single examples' outputs at the current parameters of a network.

    Attributes
    ----------
    bytes : int
        Size of one gradient.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        named = dict(model.named_parameters())
        self._parameters = {
            name: value.detach() for name, value in named.items() if value.requires_grad
        }
        self._fixed = {
            name: value.detach() for name, value in named.items() if not value.requires_grad
        } | dict(model.named_buffers())
        self.bytes = sum(
            value.numel() * value.element_size() for value in self._parameters.values()
        )

    def _logits(self, parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        """Logits of one example, without a batch axis."""
        logits: Tensor = functional_call(
            self._model, {**parameters, **self._fixed}, (x.unsqueeze(0),)
        )
        return logits.squeeze(0)

    def output_count(self, X: Tensor) -> int:
        """Number of logits of an example."""
        with torch.no_grad():
            return int(self._model(X).shape[1])

    def loss_gradient_norms(self, X: Tensor, y: Tensor) -> Tensor:
        """Norm of the gradient of each example's cross-entropy."""

        def loss(parameters: dict[str, Tensor], x: Tensor, codes: Tensor) -> Tensor:
            return cross_entropy(self._logits(parameters, x), codes)

        gradients = vmap(grad(loss), in_dims=(None, 0, 0))(self._parameters, X, y)
        squares: Any = sum(part.flatten(1).square().sum(dim=1) for part in gradients.values())
        norms: Tensor = squares.sqrt()
        return norms

    def jacobian(self, X: Tensor, *, step: int) -> list[Tensor]:
        """Derivatives of all logits of all examples: an (n k, size) tensor for each parameter.

        They are computed for `step` examples at a time.
        """
        k = self.output_count(X[:1])
        blocks = {
            name: value.new_empty((len(X), k, value.numel()))
            for name, value in self._parameters.items()
        }
        derivatives = vmap(jacrev(self._logits), in_dims=(None, 0))
        for start in range(0, len(X), step):
            for name, part in derivatives(self._parameters, X[start : start + step]).items():
                blocks[name][start : start + step] = part.flatten(2)
        return [block.flatten(0, 1) for block in blocks.values()]
