"""A pretrained Vision Transformer with a new last layer, ready for fine-tuning."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgscore.data.encoders.hub import loaded
from cgscore.errors import OptionError
from cgscore.training.networks.classifier import Classifier
from cgscore.training.networks.scale import Scale


def vision_transformer(source: str, num_classes: int) -> VisionTransformer:
    """A model of `transformers` of type ``vit``.

    Parameters
    ----------
    source : str
        Its name on the Hugging Face hub, or a folder. Only weights in safetensors format are read,
        and no code of the source is run.
    num_classes : int
        Outputs of the new last layer.
    """
    if find_spec("transformers") is None:
        raise OptionError(
            "A Vision Transformer needs transformers, which is not installed. Run: pip install "
            '"cgscore[features]"'
        )
    from transformers import AutoConfig, AutoImageProcessor, ViTModel

    model_type = loaded(AutoConfig, source).model_type
    if model_type != "vit":
        raise OptionError(f"{source} is a model of type {model_type!r}. Expected 'vit'.")
    body, loading_info = loaded(
        ViTModel, source, add_pooling_layer=False, use_safetensors=True, output_loading_info=True
    )
    missing = sorted(loading_info["missing_keys"])
    if missing:
        raise OptionError(
            f"{source} lacks the weights of {missing[0]} and {len(missing) - 1} other layers, "
            "which would be random. Expected all weights of the model."
        )
    try:
        processor = loaded(AutoImageProcessor, source)
    except OptionError:  # a folder that holds weights only
        processor = None
    with torch.random.fork_rng(devices=[]):
        return VisionTransformer(body.float(), num_classes, _processor_scale(processor))


class VisionTransformer(Classifier):
    """A Vision Transformer whose last layer reads the class token and starts at 0.

    Attributes
    ----------
    scale : Scale or None
        How images were normalised when the model was pretrained, if its source says so.
    """

    def __init__(self, body: nn.Module, num_classes: int, scale: Scale | None) -> None:
        super().__init__()
        self.body, self.scale = body, scale
        self._config = cast(Any, body.config)
        self.head = nn.Linear(self._config.hidden_size, num_classes)
        nn.init.zeros_(self.head.weight)  # Dosovitskiy et al. (2021), section 3.2
        nn.init.zeros_(self.head.bias)

    def features(self, x: Tensor) -> Tensor:
        """The class token of images (n, c, h, w), resized to the model's image size."""
        side, channels = self._config.image_size, self._config.num_channels
        if x.shape[1] == 1:
            x = x.expand(-1, channels, -1, -1)
        if x.shape[2:] != (side, side):
            shrinks = x.shape[2] > side or x.shape[3] > side
            x = functional.interpolate(x, (side, side), mode="bicubic", antialias=shrinks)
        return cast(Tensor, self.body(pixel_values=x).last_hidden_state[:, 0])


def _processor_scale(processor: Any) -> Scale | None:
    mean, deviation = (getattr(processor, f"image_{name}", None) for name in ("mean", "std"))
    if not mean or not deviation or not getattr(processor, "do_normalize", True):
        return None
    return Scale(tuple(map(float, mean)), tuple(map(float, deviation)))
