"""Models of Hugging Face `transformers`, by hub name or folder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cgscore.errors import OptionError
from cgscore.execution.accelerator import usable
from cgscore.execution.cached_property import cached_property
from cgscore.typing import Array

MAX_TOKENS = 256  # a longer text is truncated
TEXTS_PER_PASS = 16  # texts in one forward pass
POOLER = "pooler."  # many models are saved without it; its weights would be random


class _Model:
    """Base class of text and vision models: weights, loaded on first use."""

    def __init__(self, source: str, device: str, *, name: str) -> None:
        self.name = name
        self._source, self._device = source, device

    @cached_property
    def _loaded_model(self) -> tuple[Any, set[str]]:
        """The model, and the names of weights that its file lacks."""
        from transformers import AutoModel

        # weights as safetensors: a pickle could run code
        model, loading_info = loaded(
            AutoModel, self._source, use_safetensors=True, output_loading_info=True
        )
        missing = set(loading_info["missing_keys"])
        untrained = sorted(key for key in missing if POOLER not in key)
        if untrained:
            raise OptionError(
                f"{self.name} has no weights for {untrained[0]} and {len(untrained) - 1} others: "
                "they would be made up at random."
            )
        return model.eval().to(usable(self._device)), missing

    @property
    def _model(self) -> Any:
        return self._loaded_model[0]

    @property
    def _pools(self) -> bool:
        """Whether the weights of the pooled output are in the file."""
        return not self._loaded_model[1]

    def identity(self) -> str:
        """The name and a digest of the weights."""
        import torch

        model, missing = self._loaded_model
        digest = hashlib.sha256()
        for key, value in sorted(model.state_dict().items()):
            if key not in missing:
                digest.update(key.encode())
                digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        return f"{self.name} {digest.hexdigest()[:16]}"

    def __call__(self, batch: Sequence[Any]) -> Array:
        """Features of a batch."""
        import torch

        try:
            with torch.inference_mode():
                return self._features(batch)
        except OptionError:
            raise
        except Exception as error:  # models differ in the inputs they require
            raise OptionError(
                f"{self.name} cannot be used as an encoder: {_first_line(error)}"
            ) from error

    def _features(self, batch: Sequence[Any]) -> Array:
        raise NotImplementedError


class TextModel(_Model):
    """The mean over the tokens of a text, scaled to norm 1."""

    takes = "text"
    side = max_side = None
    batch = 128

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        tokenizer = loaded(AutoTokenizer, self._source)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    @property
    def _max_tokens(self) -> int:
        """Tokens that are read: the model's positions, less those that mark both ends."""
        positions = getattr(self._model.config, "max_position_embeddings", None) or MAX_TOKENS + 2
        return int(min(MAX_TOKENS, positions - 2))

    def identity(self) -> str:
        """Weights, tokenizer, and the number of tokens read."""
        fast = getattr(self._tokenizer, "backend_tokenizer", None)
        rules = repr(sorted(self._tokenizer.get_vocab().items())) if fast is None else fast.to_str()
        words = hashlib.sha256(rules.encode("utf-8", "replace")).hexdigest()[:16]
        return f"{super().identity()}, tokens {words}, {self._max_tokens} of them"

    def _features(self, batch: Sequence[str]) -> Array:
        lengths = np.array([len(text) for text in batch])
        order = np.argsort(lengths, kind="stable")  # texts of one length need no padding
        parts = [
            self._pass_features([batch[i] for i in order[start : start + TEXTS_PER_PASS]])
            for start in range(0, len(batch), TEXTS_PER_PASS)
        ]
        features: Array = np.concatenate(parts)[np.argsort(order, kind="stable")]
        return features

    def _pass_features(self, texts: list[str]) -> Array:
        from torch.nn.functional import normalize

        tokens = self._tokenizer(
            [text.encode("utf-8", "replace").decode() for text in texts],
            padding=True,
            truncation=True,
            max_length=self._max_tokens,
            return_tensors="pt",
        ).to(self._device)
        model = self._model
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        words = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"][:, :, None].to(words.dtype)
        mean = (words * mask).sum(1) / mask.sum(1).clamp(min=1)
        features: Array = normalize(mean, dim=1).float().cpu().numpy()
        return features


class VisionModel(_Model):
    """The pooled output of a model of images, or its positions averaged."""

    takes = "image"
    batch = 16

    @cached_property
    def _processor(self) -> Any:
        from transformers import AutoImageProcessor

        return loaded(AutoImageProcessor, self._source)

    @property
    def side(self) -> int:
        """Pixels that images are prepared to."""
        size = getattr(self._processor, "size", None)
        lengths = [value for value in dict(size or {}).values() if isinstance(value, int)]
        return max(lengths, default=224)

    @property
    def max_side(self) -> int:
        """The same: larger images are reduced to it."""
        return self.side

    def identity(self) -> str:
        """Weights, and how images are prepared."""
        how = hashlib.sha256(self._processor.to_json_string().encode()).hexdigest()[:16]
        return f"{super().identity()}, prepared {how}"

    def _features(self, batch: Sequence[Any]) -> Array:
        from PIL import Image

        pictures = [Image.fromarray(np.asarray(pixels)).convert("RGB") for pixels in batch]
        inputs = self._processor(images=pictures, return_tensors="pt").to(self._device)
        model = self._model
        image_features = getattr(model, "get_image_features", None)  # where texts are embedded, too
        output = model(**inputs) if image_features is None else image_features(**inputs)
        if not hasattr(output, "shape"):
            pooled = getattr(output, "pooler_output", None) if self._pools else None
            output = _mean_over_positions(output.last_hidden_state) if pooled is None else pooled
        features: Array = output.flatten(1).float().cpu().numpy()
        return features


def _mean_over_positions(positions: Any) -> Any:
    """The mean over positions: of tokens (n, t, c), or of a map (n, c, h, w)."""
    return positions.mean(dim=1) if positions.ndim == 3 else positions.mean(dim=(2, 3))


def from_hub(source: str, device: str) -> TextModel | VisionModel:
    """The encoder of a model: of images if it prepares images, otherwise of text."""
    from transformers import AutoConfig, AutoImageProcessor

    name = f"transformers:{source}"
    loaded(AutoConfig, source)
    try:
        loaded(AutoImageProcessor, source)
    except OptionError:
        return TextModel(source, device, name=name)
    return VisionModel(source, device, name=name)


def loaded(kind: Any, source: str, **options: Any) -> Any:
    """The result of ``kind.from_pretrained``; no code of the source is run."""
    try:
        with _quietly():
            return kind.from_pretrained(source, trust_remote_code=False, **options)
    except Exception as error:  # files of others: anything can be wrong with them
        raise OptionError(f"transformers cannot load {source}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Hide progress bars and loading reports of transformers."""
    from transformers.utils import logging

    bars_enabled, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars_enabled:
            logging.enable_progress_bar()
