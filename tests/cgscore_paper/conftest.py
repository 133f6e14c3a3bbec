"""Small datasets in the formats of the real ones, and a plan that takes seconds."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cgscore_paper import sources, trainings
from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.samples import write_sample_data
from tests.cgscore_paper.pretended import pretended


@pytest.fixture(scope="session", autouse=True)
def sources_read_once() -> Iterator[None]:
    """Code is parsed once for the digests of all jobs: their own caches hold fewer modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "code", functools.cache(sources.code))
        for name in ("imported", "_tree"):
            patch.setattr(sources, name, functools.cache(getattr(sources, name).__wrapped__))
        yield


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``fashion-mnist`` (IDX), ``cifar10`` (Parquet) and ``cscores``."""
    folder = tmp_path_factory.mktemp("data")
    write_sample_data(folder)
    return folder


@pytest.fixture(scope="session")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of cells for all tests of a process, so that each cell is computed once."""
    return tmp_path_factory.mktemp("cells")


@pytest.fixture
def plan() -> Plan:
    """The plan for small datasets."""
    return Plan.named("sample")


@pytest.fixture
def work(data: Path, cells: Path) -> Work:
    """Cells computed in this process, one by one."""
    return Work(cells, data)


@pytest.fixture(scope="session")
def own_cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for cells that no other test may find."""
    return tmp_path_factory.mktemp("pretended")


@pytest.fixture
def quick(work: Work, own_cells: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """Trainings on parts are pretended; those for scores are not."""
    monkeypatch.setattr(trainings.accuracy, "function", pretended)
    return replace(work, folder=own_cells)


@pytest.fixture
def more_work(work: Work, data: Path, tmp_path: Path) -> Work:
    """CIFAR-100 and MNIST under their names, though with the images at hand."""
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    shutil.copytree(folder / "cifar10", folder / "cifar100")
    shutil.copytree(folder / "fashion-mnist", folder / "mnist")
    scores = folder / "cscores"
    shutil.copy(
        scores / "cifar10-cscores-orig-order.npz", scores / "cifar100-cscores-orig-order.npz"
    )
    return Work(work.folder, folder)
