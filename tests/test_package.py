"""What the package promises as a whole."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import cgscore
from cgscore import errors

LOCKS = sorted((Path(__file__).parents[1] / "constraints").glob("python*.txt"))

SOURCE = Path(cgscore.__file__).parent


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_quick_and_loads_no_heavy_package() -> None:
    loaded = python("import cgscore, sys; print(*sys.modules)").split()
    assert not {"torch", "dask", "distributed", "sklearn", "pandas", "pyarrow"} & set(loaded)
    after = python("import cgscore, sys; cgscore.score; print(*sys.modules)").split()
    assert not {"torch", "dask", "sklearn"} & set(after)


def test_all_is_what_is_public() -> None:
    assert cgscore.__all__ == sorted(cgscore.__all__)
    for name in cgscore.__all__:
        value = getattr(cgscore, name)
        assert not isinstance(value, types.ModuleType)
        assert value.__doc__
    assert set(cgscore.__all__) <= set(dir(cgscore))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cgscore.nothing  # noqa: B018


def test_every_error_is_in_the_tree_and_in_its_drawing() -> None:
    for name, value in vars(errors).items():
        if inspect.isclass(value) and value.__module__ == errors.__name__:
            assert name in (errors.__doc__ or "")
            assert issubclass(value, errors.CGScoreError | errors.CGScoreWarning)


def test_only_lazy_imports_of_optional_packages() -> None:
    only = {SOURCE / "execution" / "dask.py", *(SOURCE / "training").rglob("*.py")}
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            found = {name.split(".")[0] for name in names}
            assert not {"torch", "dask", "distributed"} & found or path in only, path


def test_examples_in_docstrings() -> None:
    from cgscore import api
    from cgscore.adapters import sklearn

    for module in (api, sklearn):
        result = doctest.testmod(module)
        assert result.attempted
        assert not result.failed


def test_real_data_of_many_classes(real_data: Path) -> None:
    """A slice of Fashion-MNIST: wrong labels stand out."""
    import gzip

    import numpy as np

    folder = real_data / "fashion-mnist"
    images, labels = (
        np.frombuffer(gzip.decompress((folder / f"train-{name}-ubyte.gz").read_bytes()), np.uint8)
        for name in ("images-idx3", "labels-idx1")
    )
    X, y = images[16:].reshape(-1, 784)[:1500], labels[8:][:1500].copy()
    wrong = np.arange(1500) % 10 == 0
    y[wrong] = (y[wrong] + 3) % 10
    s = cgscore.score(X, y, ridge=0.3)
    margin = s.table["margin"].to_numpy()
    ranks = margin.argsort().argsort()
    auroc = 1 - (ranks[wrong].sum() - 150 * 149 / 2) / (150 * 1350)
    assert auroc > 0.95


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_line_of_a_lock_has_a_version_and_a_hash(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text().rstrip())
    names = [re.split("[=; ]", entry)[0] for entry in entries]
    assert "numpy" in names
    assert "hatchling" in names
    for entry in entries:
        assert re.match(r"[\w.\-\[\]]+==[\w.+!]+ ", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_version_is_the_same_everywhere() -> None:
    """In the package, the citation and the changelog; the changelog keeps its form."""
    root = Path(__file__).parents[1]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {cgscore.__version__}\n" in citation
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", changelog, re.MULTILINE)
    assert len(releases) == len(re.findall(r"^## ", changelog, re.MULTILINE))
    versions = [version for version, _ in releases]
    numbers = [version for version in versions if version != "Unreleased"]
    assert versions[0] in ("Unreleased", cgscore.__version__)
    assert numbers[0] == cgscore.__version__
    assert numbers == sorted(numbers, key=lambda v: [*map(int, v.split("."))], reverse=True)
    released = dict(releases)[cgscore.__version__]
    assert f"\ndate-released: {released}\n" in citation
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert kinds == [kind for kind in order if kind in kinds], section.splitlines()[0]


def test_the_kernel_is_tested_with_numpy_and_pytest_alone(tmp_path: Path) -> None:
    """Neither large packages nor those of other tests are imported on the way."""
    blocked = "pandas pyarrow sklearn torch dask distributed playwright hypothesis typer PIL"
    (tmp_path / "blocked.py").write_text(
        f"import sys\nfor name in {blocked.split()}:\n    sys.modules[name] = None\n"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "blocked", "-p", "no:cacheprovider"),
            *("-p", "no:hypothesispytest", "tests/test_kernel.py", "-k", "definition or digits"),
        ],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root / 'src'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
