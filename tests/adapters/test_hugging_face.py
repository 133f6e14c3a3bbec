"""Scores as columns of real datasets, map-style and streaming."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.adapters.hugging_face import with_scores
from cgscore.errors import OptionError, SourceError

datasets = pytest.importorskip("datasets")


@pytest.fixture(scope="module")
def data() -> Any:
    digits = cgscore.read("sklearn:digits")
    pixels = np.asarray(digits.X[:300], float).reshape(300, -1)
    return datasets.Dataset.from_dict(
        {"pixels": pixels.tolist(), "label": [int(one) for one in digits.y[:300]]}  # type: ignore[index]
    )


def test_columns_of_a_dataset(data: Any) -> None:
    scores = cgscore.score(data, ridge="auto")
    more = with_scores(data, scores)
    assert more.column_names[-5:] == [
        "cg",
        "margin",
        "label_score",
        "is_label_issue",
        "predicted_label",
    ]
    assert more["cg"][:] == scores.table["cg"].tolist()
    assert more["label_score"][:] == scores.label_issues()["label_score"].tolist()
    clean = more.filter(lambda row: not row["is_label_issue"])
    assert len(clean) == (~scores.label_issues()["is_label_issue"]).sum()
    with pytest.raises(OptionError, match="already"):
        with_scores(more, scores)
    assert "my_cg" in with_scores(more, scores, ("cg",), prefix="my_").column_names
    with pytest.raises(OptionError, match="300 were scored"):
        with_scores(data.select(range(5)), scores)
    with pytest.raises(OptionError, match="Choose from"):
        with_scores(data, scores, ("nothing",))


def test_streams_are_gathered_and_stay_streams(data: Any) -> None:
    stream = data.to_iterable_dataset(num_shards=3)
    scores = cgscore.score(stream, ridge="auto")
    whole = cgscore.score(data, ridge="auto")
    assert (scores.table["cg"] == whole.table["cg"]).all()
    more = with_scores(stream, scores, ("cg", "is_label_issue"))
    assert not hasattr(more, "__len__")
    rows = list(more)
    assert [row["cg"] for row in rows] == scores.table["cg"].tolist()
    assert set(rows[0]) == {"pixels", "label", "cg", "is_label_issue"}
    with pytest.raises(OptionError, match="one split"):
        with_scores(datasets.DatasetDict(train=data), scores)


def test_an_endless_stream_is_refused(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from cgscore.data import bounded

    def endless() -> Any:
        while True:
            yield {"pixels": [1.0] * 1000, "label": 0}

    monkeypatch.setattr(bounded, "available_memory", lambda: 1 << 24)
    stream = datasets.IterableDataset.from_generator(endless)
    with pytest.raises(SourceError, match="so far"):
        cgscore.read(stream)
