"""Opening the scored data again: from the caller, or from the source that a result names.

A saved result may come from anyone. What it names is opened only if it is a file or a folder, and
an encoder that would run other people's code only if the caller names it, too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from cgscore.data import Dataset, read
from cgscore.data.encoders.registry import BUILT_IN
from cgscore.data.features import PIXELS, is_file
from cgscore.errors import OptionError, ResultError
from cgscore.result.schema import check_read_options
from cgscore.spelling import for_reader, spelled


def open_data(
    data: Any, meta: Mapping[str, Any], labels: NDArray[Any], encoder: str | None
) -> Dataset:
    """The data that the caller gives, read as the source was and labelled if they have no labels.

    Parameters
    ----------
    data
        The data, or where they are now.
    meta : mapping
        Metadata of the result.
    labels : (n,) array
        The labels that were scored.
    encoder : str, optional
        The encoder, named by the caller.
    """
    options = {} if isinstance(data, Dataset) else read_options(meta, encoder)
    dataset = read(data, **options)
    return dataset if dataset.y is not None else dataset.with_labels(labels)


def open_source(meta: Mapping[str, Any], encoder: str | None) -> Dataset:
    """The data of the source that a result names."""
    source = meta["source"]
    if not (source.startswith("sklearn:") or exists(source)):
        raise OptionError(
            f"This result was loaded from a file, and its source ({source}) is not there. "
            f"Give the scored data: {_data_option()}"
        )
    check_openable(source, "source")
    return read(source, **read_options(meta, encoder))


def with_corrections(dataset: Dataset, meta: Mapping[str, Any], labels: NDArray[Any]) -> Dataset:
    """The data with the labels that were scored, where these are corrections of the source's own.

    ``meta["source_fingerprint"]`` is that of the source as it was corrected: any other source is
    left as it is, and `check_fingerprint` refuses it.
    """
    if meta.get("source_fingerprint") != dataset.fingerprint:
        return dataset
    return dataset.with_labels(labels)


def check_fingerprint(dataset: Dataset, meta: Mapping[str, Any]) -> None:
    """Raise `OptionError` for data other than those that were scored."""
    if dataset.fingerprint != meta["fingerprint"]:
        raise OptionError(
            "The data are not what was scored: their fingerprint differs. Score these data, or "
            f"give those that were scored: {_data_option()}"
        )


def check_encoder(meta: Mapping[str, Any], encoder: str | None) -> None:
    """Raise `OptionError` for another encoder than the one of the result."""
    saved = meta["read_options"].get("encoder")
    if encoder is not None and encoder != saved:
        how = "without an encoder" if saved is None else f"with the encoder {saved!r}"
        raise OptionError(f"encoder={encoder!r}: this result was scored {how}.")


def read_options(meta: Mapping[str, Any], encoder: str | None) -> dict[str, Any]:
    """How the source was read; an encoder runs code only if the caller names it."""
    options = meta["read_options"]
    check_read_options(options)
    check_encoder(meta, encoder)
    saved = options.get("encoder")
    harmless = saved is None or saved in BUILT_IN or is_file(str(saved))
    if not harmless and encoder is None:
        raise OptionError(
            f"This result was scored with the encoder {saved!r}, which is loaded only if you "
            f"name it yourself: {spelled(encoder=saved)}"
        )
    if "labels" in options:
        check_openable(options["labels"], "file of labels")
    if saved is not None and is_file(saved):
        check_openable(saved, "file of features")
    # results of 0.2 and before do not name encoders, and compared photographs by pixels by default
    before = {} if "encoder" in meta else {"encoder": PIXELS}
    return {**before, **options}


def check_openable(name: str, kind: str) -> None:
    """Refuse a name that leads to neither a file nor a folder, since opening it may block.

    A name that leads nowhere passes: whoever opens it has the better message.
    """
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ResultError(
            f"The {kind} that this result names, {name}, is neither a file nor a folder. It is "
            f"not opened. Give the scored data: {_data_option()}"
        )


def _data_option() -> str:
    return for_reader(python="data=...", command_line="--source PATH")


def exists(name: str) -> bool:
    """Whether a name leads to anything; a name that is too long does not."""
    try:
        os.stat(name)
    except (OSError, ValueError):
        return False
    return True
