"""Small datasets in the formats of the real ones, and a plan that takes seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgscore_paper.cells import Work
from cgscore_paper.plans import Plan
from cgscore_paper.samples import write_sample_data


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
