"""Torch datasets and Lightning data modules, with the real libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.adapters.torch import chosen_subset, pruned_loader, subset, weighted_sampler
from cgscore.errors import OptionError, SourceError

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def digits() -> tuple[Any, cgscore.Scores]:
    dataset = cgscore.read("sklearn:digits")
    X = torch.tensor(np.asarray(dataset.X[:400], np.float32)).unsqueeze(1)
    y = torch.tensor(np.asarray(dataset.y)[:400])
    y[::20] = (y[::20] + 1) % 10
    data = torch.utils.data.TensorDataset(X, y)
    return data, cgscore.score(data, ridge="auto")


def test_subset_is_torchs_own(digits: tuple[Any, cgscore.Scores]) -> None:
    data, scores = digits
    kept = scores.keep(0.5)
    few = subset(data, kept)
    assert isinstance(few, torch.utils.data.Subset)
    assert [int(label) for _, label in few] == scores.table["given_label"].iloc[kept].tolist()
    mask = np.isin(np.arange(400), kept)
    assert subset(data, mask).indices == few.indices
    with pytest.raises(OptionError, match="do not fit 400 examples"):
        subset(data, [3, 400])


def test_subset_by_a_ranking(digits: tuple[Any, cgscore.Scores]) -> None:
    data, scores = digits
    few = chosen_subset(data, scores, 0.2, landmarks=60)
    assert few.indices == scores.keep(0.2, "auto", landmarks=60).tolist()
    assert len(chosen_subset(data, scores, 0.3, "random")) == 120
    with pytest.raises(OptionError, match="400 were scored"):
        chosen_subset(few, scores, 0.2)


def test_loader_keeps_its_settings(digits: tuple[Any, cgscore.Scores]) -> None:
    data, scores = digits
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
    few = pruned_loader(loader, scores.keep(0.5))
    assert len(few) == 200 // 32
    assert isinstance(few.sampler, torch.utils.data.RandomSampler)
    assert next(iter(few))[0].shape == (32, 1, 64)
    drawn = torch.utils.data.DataLoader(data, sampler=weighted_sampler(scores))
    utilities = torch.utils.data
    batches = utilities.BatchSampler(utilities.SequentialSampler(data), 8, drop_last=False)
    for other in (
        drawn,
        utilities.DataLoader(data, batch_sampler=batches),
        utilities.DataLoader(
            data, sampler=utilities.RandomSampler(data, replacement=True, num_samples=1000)
        ),
        utilities.DataLoader(data, sampler=utilities.SequentialSampler(range(10))),
    ):
        with pytest.raises(OptionError, match="nothing of what is kept"):
            pruned_loader(other, scores.keep(0.5))
    orders = []
    for _ in range(2):
        seeded = utilities.RandomSampler(data, generator=torch.Generator().manual_seed(3))
        few = pruned_loader(utilities.DataLoader(data, sampler=seeded), scores.keep(0.5))
        orders.append([int(label) for _, label in few])
    assert orders[0] == orders[1]


def test_suspects_are_rarely_drawn(digits: tuple[Any, cgscore.Scores]) -> None:
    _, scores = digits
    wrong = np.arange(400) % 20 == 0
    sampler = weighted_sampler(scores, num_samples=4000, seed=1)
    drawn = np.array(list(sampler))
    assert len(drawn) == 4000
    assert wrong[drawn].mean() < 0.5 * wrong.mean()
    assert (drawn == np.array(list(weighted_sampler(scores, num_samples=4000, seed=1)))).all()
    skewed = np.where(scores.codes() == 0, 30.0, 1.0)
    even = np.array(list(weighted_sampler(scores, skewed, balanced=True, num_samples=5000, seed=2)))
    shares = np.bincount(scores.codes()[even], minlength=10) / 5000
    assert shares.min() > 0.07
    assert shares.max() < 0.13
    with pytest.raises(OptionError, match="no weights"):
        weighted_sampler(scores, "margin")
    with pytest.raises(OptionError, match="num_samples must be"):
        weighted_sampler(scores, num_samples=0)
    with pytest.raises(OptionError, match="cannot be drawn"):
        weighted_sampler(scores, np.where(scores.codes() == 3, 0.0, 1.0), balanced=True)


def test_lightning_data_modules(digits: tuple[Any, cgscore.Scores]) -> None:
    from lightning import LightningDataModule

    data, scores = digits

    class Module(LightningDataModule):
        def setup(self, stage: str) -> None:
            self.stage = stage

        def train_dataloader(self) -> Any:
            assert self.stage == "fit"
            return torch.utils.data.DataLoader(data, batch_size=50)

    again = cgscore.score(Module(), ridge="auto")
    assert (again.table["cg"] == scores.table["cg"]).all()
    few = pruned_loader(Module(), again.keep(0.25))
    assert sum(len(batch) for batch, _ in few) == 100

    class Split(LightningDataModule):
        def setup(self, stage: str) -> None:
            self.part, _ = torch.utils.data.random_split(data, [300, 100])

        def train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(self.part)

    split = Split()
    part = cgscore.score(split)
    kept = part.keep(0.5)
    labels = [int(label) for _, label in pruned_loader(split, kept)]
    assert labels == part.table["given_label"].iloc[kept].tolist()  # not split anew

    class Several(Module):
        def train_dataloader(self) -> Any:
            return [super().train_dataloader()]

    with pytest.raises(SourceError, match="Expected one DataLoader"):
        cgscore.read(Several())
