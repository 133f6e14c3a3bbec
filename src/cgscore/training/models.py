"""The networks by name.

Each is a `Classifier`: ``features`` gives the input of its last layer, which is ``head``. A new
network is a file in `cgscore.training.networks` and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cgscore.training.networks.classifier import Classifier
from cgscore.training.networks.densenet import densenet_bc100
from cgscore.training.networks.fast_cnn import fast_cnn
from cgscore.training.networks.resnet import resnet18, resnet50
from cgscore.training.networks.vit import vision_transformer

__all__ = [
    "MODELS",
    "Classifier",
    "densenet_bc100",
    "fast_cnn",
    "resnet18",
    "resnet50",
    "vision_transformer",
]

#: Networks that a preset may name: ``build(num_classes, width=..., channels=..., seed=...)``.
MODELS: Mapping[str, Callable[..., Classifier]] = MappingProxyType(
    {build.__name__: build for build in (resnet18, resnet50, densenet_bc100, fast_cnn)}
)
