"""A Vision Transformer pretrained elsewhere, with a new last layer, ready for fine-tuning."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgscore.data.encoders.hub import loaded
from cgscore.errors import OptionError
from cgscore.training.loop.inputs import Scale
from cgscore.training.models import Classifier


def vision_transformer(source: str, num_classes: int) -> VisionTransformer:
    """A model of `transformers` of the type ``vit``.

    Parameters
    ----------
    source : str
        Its name on the hub of Hugging Face, or a folder. Weights are read as safetensors only, and
        no code of the source is run.
    num_classes : int
        Outputs of the new last layer.
    """
    if find_spec("transformers") is None:
        raise OptionError(
            'A Vision Transformer needs transformers. Run: pip install "cgscore[features]"'
        )
    from transformers import AutoConfig, AutoImageProcessor, ViTModel

    kind = loaded(AutoConfig, source).model_type
    if kind != "vit":
        raise OptionError(f"{source} is a model of the type {kind!r}. Expected 'vit'.")
    body, told = loaded(
        ViTModel, source, add_pooling_layer=False, use_safetensors=True, output_loading_info=True
    )
    missing = sorted(told["missing_keys"])
    if missing:
        raise OptionError(
            f"{source} has no weights for {missing[0]} and {len(missing) - 1} others: they would "
            "be made up at random."
        )
    try:
        prepare = loaded(AutoImageProcessor, source)
    except OptionError:  # a folder of weights alone
        prepare = None
    with torch.random.fork_rng(devices=[]):
        return VisionTransformer(body.float(), num_classes, _scale(prepare))


class VisionTransformer(Classifier):
    """The class token after the last layer, and a last layer that starts at 0.

    Attributes
    ----------
    scale : Scale or None
        How images were normalised when the model was trained, where its source says so.
    """

    def __init__(self, body: nn.Module, num_classes: int, scale: Scale | None) -> None:
        super().__init__()
        self.body, self.scale = body, scale
        self._config = cast(Any, body.config)
        self.head = nn.Linear(self._config.hidden_size, num_classes)
        nn.init.zeros_(self.head.weight)  # Dosovitskiy et al. (2021), section 3.2
        nn.init.zeros_(self.head.bias)

    def features(self, x: Tensor) -> Tensor:
        """The class token of images (n, c, h, w), brought to the size that the model knows."""
        side, channels = self._config.image_size, self._config.num_channels
        if x.shape[1] == 1:
            x = x.expand(-1, channels, -1, -1)
        if x.shape[2:] != (side, side):
            smaller = x.shape[2] > side or x.shape[3] > side
            x = functional.interpolate(x, (side, side), mode="bicubic", antialias=smaller)
        return cast(Tensor, self.body(pixel_values=x).last_hidden_state[:, 0])


def _scale(prepare: Any) -> Scale | None:
    mean, deviation = (getattr(prepare, f"image_{name}", None) for name in ("mean", "std"))
    if not mean or not deviation or not getattr(prepare, "do_normalize", True):
        return None
    return Scale(tuple(map(float, mean)), tuple(map(float, deviation)))
