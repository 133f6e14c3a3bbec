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
    with pytest.raises(OptionError, match="columns must be among"):
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


def test_rows_keep_their_scores_whatever_is_done_to_a_stream(data: Any) -> None:
    import torch

    stream = data.to_iterable_dataset(num_shards=4)
    scores = cgscore.score(stream, ridge="auto")
    expected = dict(zip(map(tuple, data["pixels"]), scores.table["cg"], strict=True))
    more = with_scores(stream, scores, ("cg",))
    for changed in (more, more.shuffle(seed=1, buffer_size=40), more.take(20)):
        rows = list(changed)
        assert rows
        assert all(expected[tuple(row["pixels"])] == row["cg"] for row in rows)
    loader = torch.utils.data.DataLoader(more, batch_size=None)
    assert all(expected[tuple(row["pixels"])] == row["cg"] for row in loader)
    shuffled = stream.shuffle(seed=1, buffer_size=40)
    with pytest.raises(OptionError, match="not what was scored"):
        list(with_scores(shuffled, scores))
    with pytest.raises(OptionError, match="300 were scored"):
        list(with_scores(stream.take(7), scores))
    with pytest.raises(OptionError, match="labels or order differ"):
        with_scores(data.select(list(range(299, -1, -1))), scores)


@pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")
def test_one_meaning_of_a_column_and_missing_values(data: Any) -> None:
    scores = cgscore.score(data, method="subsample", ratio=4, runs=5, ridge=0.1)
    one = with_scores(data, scores, ("predicted_label",))["predicted_label"][:]
    all_of_them = with_scores(data, scores)["predicted_label"][:]
    assert one == all_of_them
    assert None in one
    assert set(one) > {0, 1, 2}


def test_numbers(data: Any) -> None:
    plain = data.remove_columns("label").add_column("target", np.linspace(0, 1, 300).tolist())
    scores = cgscore.score(plain, task="regression", ridge=0.1)
    assert with_scores(plain, scores).column_names[-3:] == ["cg", "residual", "predicted_label"]


def test_an_endless_stream_is_refused(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from cgscore.data.readers import bounded

    def endless() -> Any:
        while True:
            yield {"pixels": [1.0] * 1000, "label": 0}

    monkeypatch.setattr(bounded, "available_memory", lambda: 1 << 24)
    stream = datasets.IterableDataset.from_generator(endless)
    with pytest.raises(SourceError, match="so far"):
        cgscore.read(stream)
