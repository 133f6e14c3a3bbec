"""Data that tests share."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from distributed import Client
    from playwright.sync_api import Browser

    from tests.cluster import Processes

with contextlib.suppress(ModuleNotFoundError):  # tests of the kernel need pytest alone
    from hypothesis import settings

    settings.register_profile("cgscore", deadline=None, derandomize=True)
    settings.load_profile("cgscore")

ROOT = Path(__file__).parents[1]
REAL_DATA = Path(os.environ.get("CGSCORE_DATA", ROOT.parent / "shared" / "data"))


#: Whether only the package's own dependencies are installed (`make test-lowest`).
CORE_ONLY = os.environ.get("CGSCORE_TESTS") == "core"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out tests that need an optional package, where only the core is to be tested."""
    for mark in item.iter_markers("needs"):
        if CORE_ONLY and find_spec(mark.args[0]) is None:
            pytest.skip(f"{mark.args[0]} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """The same for tests whose data are made with an optional package."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if CORE_ONLY and not str(error.name).startswith("cgscore"):
            pytest.skip(f"{error.name} is not installed")
        raise


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Features are kept in a folder of the tests' own."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["CGSCORE_CACHE"] = str(folder)
    yield folder
    del os.environ["CGSCORE_CACHE"]


@pytest.fixture
def real_data() -> Path:
    """The folder of large real datasets; without it the test is skipped, under CI it fails."""
    if REAL_DATA.is_dir():
        return REAL_DATA
    reason = f"no real data in {REAL_DATA}: set CGSCORE_DATA"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def cloud() -> tuple[Any, Any]:
    """Sixty well-separated points in three classes."""
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 20)
    return rng.standard_normal((60, 8)) + np.eye(3, 8)[y], y


@pytest.fixture
def uneven() -> tuple[Any, Any]:
    """Classes of 60, 25, 12 and 3 examples."""
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c", "d"], [60, 25, 12, 3])
    rng.shuffle(y)
    X = rng.standard_normal((100, 12)) + 2 * np.eye(4, 12)[np.unique(y, return_inverse=True)[1]]
    return X, y


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder of digits as images, some in the wrong class, and its result."""
    from tests.review.server import write_photos

    root = tmp_path_factory.mktemp("review")
    return (root, *write_photos(root))


@pytest.fixture
def dirty_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panels of a factor are full of NaN before they are written."""
    from tests.dirty_panels import fill_panels

    fill_panels(monkeypatch.setattr)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium; without one tests are skipped, under CI they fail."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        reason = "no Chromium: install Debian's package chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """A scheduler without workers."""
    from tests.cluster import Processes

    folder = tmp_path / "cluster"
    folder.mkdir()
    found = Processes(folder)
    yield found
    found.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of two workers that stay."""
    from tests.cluster import Processes

    found = Processes(tmp_path_factory.mktemp("cluster"))
    found.add()
    found.add()
    client = found.client(2)
    yield client
    client.close()
    found.close()
