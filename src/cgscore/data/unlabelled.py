"""Examples without labels that are compared with labelled ones: read and encoded alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgscore.data.columns import encode
from cgscore.data.dataset import Dataset
from cgscore.data.source import read_unlabelled
from cgscore.errors import DataError, OptionError

_FITTED_ENCODERS = ("tfidf",)  # whose features depend on all texts they are made from


def read_pool(
    source: Any, labelled: Dataset, options: Mapping[str, Any]
) -> tuple[Dataset, NDArray[Any]]:
    """Unlabelled examples, and the inputs of the labelled ones in the same columns.

    Columns of a table are standardised and encoded over both together, since the numbers of a table
    depend on all its rows.

    Parameters
    ----------
    source
        A path or an object, as for `cgscore.read`; labels that it holds are not used.
    labelled : Dataset
        The labelled examples, as they were read.
    options : mapping
        Options of `cgscore.read` with which they were read.

    Returns
    -------
    dataset : Dataset
        The unlabelled examples.
    X : (n, p) array
        The labelled ones.

    Raises
    ------
    OptionError
        Features of both depend on each other in a way that only encoding them together keeps.
    DataError
        The columns differ.
    """
    encoder = (labelled.encoder or {}).get("name")
    if encoder in _FITTED_ENCODERS or options.get("scaling", "none") != "none":
        raise OptionError(
            f"The features of {labelled.source} depend on all examples they were made from "
            f"(encoder {encoder}, scaling {options.get('scaling', 'none')}). Encode the labelled "
            "examples and the pool together, and give both as .npz files."
        )
    kept = ("image_column", "id_column", "text_column", "resize", "preprocess", "encoder")
    pool = read_unlabelled(source, **{name: options[name] for name in kept if name in options})
    if labelled.frame is not None and labelled.encoder is None:
        return _encoded_together(pool, labelled)
    if pool.shape[1] != labelled.shape[1]:
        raise DataError(
            f"{pool.source} has {pool.shape[1]:,} numbers for each example, and {labelled.source}, "
            f"with which it is compared, {labelled.shape[1]:,}. Give both the same columns."
        )
    return pool, labelled.X


def _encoded_together(pool: Dataset, labelled: Dataset) -> tuple[Dataset, NDArray[Any]]:
    import pandas as pd

    frame = labelled.frame
    assert frame is not None  # noqa: S101  the caller has looked
    missing = [] if pool.frame is None else [name for name in frame if name not in pool.frame]
    if pool.frame is None or missing:
        what = "is not a table" if pool.frame is None else f"has no column {missing[0]!r}"
        raise DataError(
            f"{pool.source} {what}. Expected the columns of {labelled.source}: "
            f"{', '.join(map(str, frame))}."
        )
    both = pd.concat([frame, pool.frame[list(frame)]], ignore_index=True)
    n = len(frame)
    X = encode(both, pool.source, preprocess=labelled.preprocessing != "none")[0]
    return replace(pool, X=np.ascontiguousarray(X[n:])), X[:n]
