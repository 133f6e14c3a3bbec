"""The options of `cgscore.read`: checked once, typed, and kept with a result."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cgscore
from cgscore.cli.read_flags import ReadFlags
from cgscore.data.readers.options import PUBLIC_OPTIONS, SAVED_OPTIONS, ReadContext, ReadOptions
from cgscore.errors import OptionError

ELSEWHERE = ("source", "encoder", "scaling", "device", "progress")


def test_fields_are_the_keywords_of_read() -> None:
    keywords = {
        name: parameter.default
        for name, parameter in inspect.signature(cgscore.read).parameters.items()
        if name not in ELSEWHERE
    }
    public = {
        option.name: option.default for option in fields(ReadOptions) if option.name != "context"
    }
    assert public == keywords
    assert tuple(keywords) == PUBLIC_OPTIONS  # the order in which results save them


def test_what_is_saved_are_the_flags_of_the_command_line() -> None:
    assert {flag.name for flag in fields(ReadFlags)} == set(SAVED_OPTIONS)


def test_read_hands_every_keyword_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {
        "labels": [0, 1],
        "label_column": "a",
        "image_column": "b",
        "id_column": "c",
        "split": "d",
        "resize": "3x4",
        "skip_bad": True,
        "preprocess": "none",
        "text_column": "e",
        "max_columns": 5,
        "drop": ["f", "g"],
        "source_column": "h",
        "group_column": "i",
        "annotator_columns": ["j", "k"],
    }
    assert tuple(given) == PUBLIC_OPTIONS
    seen: list[ReadOptions] = []

    def record(source: Any, options: ReadOptions) -> cgscore.Dataset:
        seen.append(options)
        return cgscore.Dataset(np.eye(2), None, np.arange(2))

    monkeypatch.setattr("cgscore.data.source.from_object", record)
    cgscore.read(object(), **given)
    (options,) = seen
    assert {name: getattr(options, name) for name in PUBLIC_OPTIONS} == given
    assert options.size == (3, 4)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"preprocess": "whiten"}, r"preprocess must be 'auto', 'none' or 'table'; got 'whiten'\."),
        ({"max_columns": 0}, r"max_columns must be 1 or larger; got 0\."),
        ({"drop": 3}, r"drop must be the name of a column or a list of names; got 3\."),
        (
            {"annotator_columns": 3},
            r"annotator_columns must be the name of a column or a list of names; got 3\.",
        ),
        ({"annotator_columns": ["a", "a"]}, r"annotator_columns names a column twice"),
        ({"resize": "big"}, r"resize must be a size such as 32 or 64x48; got 'big'\."),
    ],
)
def test_values_that_no_source_accepts(option: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ReadOptions(**option)
    with pytest.raises(OptionError, match=message):
        replace(ReadOptions(), **option)
    with pytest.raises(OptionError, match=message):
        cgscore.read(np.eye(4), labels=[0, 1, 0, 1], **option)


@pytest.mark.parametrize(
    ("resize", "size"), [(None, None), (32, (32, 32)), ("7", (7, 7)), ("64X48", (64, 48))]
)
def test_sizes(resize: Any, size: Any) -> None:
    assert ReadOptions(resize=resize).size == size


def test_options_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ReadOptions().split = "test"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        ReadContext().texts = True  # type: ignore[misc]


@pytest.mark.parametrize("name", [name for name in PUBLIC_OPTIONS if name != "labels"])
def test_unused_options_are_refused(name: str) -> None:
    values: dict[str, Any] = {
        "resize": 3, "skip_bad": True, "preprocess": "table", "drop": ["a"]
    }  # fmt: skip
    value = values.get(name, 1 if name == "max_columns" else "none")
    options = ReadOptions(**{name: value})
    options.reject_unused("d.npz", (name,))
    with pytest.raises(
        OptionError, match=rf"^{name}={re.escape(repr(value))} is not used for d\.npz\. Leave"
    ):
        options.reject_unused("d.npz", ())


def test_every_source_takes_labels_and_no_preprocessing() -> None:
    ReadOptions().reject_unused("d.npz", ())
    ReadOptions(labels=[0, 1], preprocess="none").reject_unused("d.npz", ())


def test_metadata_hold_what_was_given() -> None:
    assert ReadOptions().as_metadata() == {"preprocess": "auto"}
    options = ReadOptions(
        drop="b",
        max_columns=9,
        labels=Path("y.npy"),
        resize=(8, 9),
        skip_bad=True,
        label_column="kind",
    )
    assert list(options.as_metadata().items()) == [
        ("labels", "y.npy"),
        ("label_column", "kind"),
        ("resize", [8, 9]),
        ("skip_bad", True),
        ("preprocess", "auto"),
        ("max_columns", 9),
        ("drop", ["b"]),
    ]
    assert "labels" not in ReadOptions(labels=[0, 1]).as_metadata()


def test_names_of_columns_become_plain_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((40, 4)))[[0, 2, 3]]
    frame[9], frame[10] = np.arange(40) % 2, "only"
    scores = cgscore.score(
        frame, label_column=frame.columns[-2], drop=[frame.columns[-1]], ridge=0.1
    )
    scores.save(tmp_path / "s.parquet")
    options = cgscore.load(tmp_path / "s.parquet").meta["read_options"]
    assert (options["label_column"], options["drop"]) == (9, [10])
    assert options == scores.meta["read_options"]
    sizes: Any = {"resize": (np.int64(8), np.int64(9)), "max_columns": np.int64(5)}
    kept = ReadOptions(**sizes).as_metadata()
    assert json.loads(json.dumps(kept)) == kept
