"""Gradients of a network with respect to its parameters, example by example.

Only parameters that require a gradient count. The network is to be in evaluation mode: statistics
of a batch would tie its examples together.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, vmap
from torch.nn.functional import cross_entropy

from cgscore.errors import MemoryLimitError
from cgscore.execution.machine import parse_bytes, show_bytes

#: Derivatives in the making take this many times what they take in the end (measured).
MAKING = 3


def within(memory_limit: int | str, each: int, least: int = 1) -> int:
    """How many derivatives of `each` bytes fit a limit.

    Raises
    ------
    MemoryLimitError
        Fewer than the `least` that are needed.
    """
    limit = parse_bytes(memory_limit)
    if least * each > limit:
        raise MemoryLimitError(
            f"The derivatives take {show_bytes(least * each)} at least, more than memory_limit "
            f"allows ({show_bytes(limit)}). Raise memory_limit."
        )
    return limit // each


class Tangent:
    """A network as a function of its parameters, at the parameters that it has.

    Attributes
    ----------
    bytes : int
        What one gradient takes.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._parameters = {
            name: one.detach() for name, one in model.named_parameters() if one.requires_grad
        }
        self._fixed = {
            name: one.detach() for name, one in model.named_parameters() if not one.requires_grad
        } | dict(model.named_buffers())
        self.bytes = sum(one.numel() * one.element_size() for one in self._parameters.values())

    def _logits(self, parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        """Logits of one example, without the axis of a batch."""
        found: Tensor = functional_call(
            self._model, {**parameters, **self._fixed}, (x.unsqueeze(0),)
        )
        return found.squeeze(0)

    def outputs(self, X: Tensor) -> int:
        """Number of logits."""
        with torch.no_grad():
            return int(self._model(X).shape[1])

    def loss_gradient_norms(self, X: Tensor, y: Tensor) -> Tensor:
        """Norm of the gradient of the cross entropy, of every example."""

        def loss(parameters: dict[str, Tensor], x: Tensor, codes: Tensor) -> Tensor:
            return cross_entropy(self._logits(parameters, x), codes)

        gradients = vmap(grad(loss), in_dims=(None, 0, 0))(self._parameters, X, y)
        squares: Any = sum(one.flatten(1).square().sum(dim=1) for one in gradients.values())
        norms: Tensor = squares.sqrt()
        return norms

    def jacobian(self, X: Tensor, *, step: int) -> list[Tensor]:
        """For each parameter the (n k, size) derivatives of all logits of all examples.

        They are computed for `step` examples at a time, and put in place.
        """
        k = self.outputs(X[:1])
        whole = {
            name: one.new_empty((len(X), k, one.numel())) for name, one in self._parameters.items()
        }
        derivatives = vmap(jacrev(self._logits), in_dims=(None, 0))
        for start in range(0, len(X), step):
            for name, part in derivatives(self._parameters, X[start : start + step]).items():
                whole[name][start : start + step] = part.flatten(2)
        return [one.flatten(0, 1) for one in whole.values()]
