"""Digests of the code of jobs."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from cgscore_paper import sources


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources of small packages instead of the real ones."""
    for name, text in {
        "cgscore/__init__.py": "if TYPE_CHECKING:\n    from cgscore.api import score\n",
        "cgscore/api.py": "from cgscore.kernel import gram\n",
        "cgscore/kernel.py": "x = 1\n",
        "cgscore/other.py": "x = 1\n",
        "cgscore_paper/__init__.py": "",
        "cgscore_paper/figure.py": (
            "import numpy\nfrom cgscore import score\n"
            "if TYPE_CHECKING:\n    from cgscore.other import x\n"
        ),
        "cgscore_paper/table.py": "def f():\n    from cgscore_paper import figure\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sources, "_ROOT", tmp_path)
    for name in ("digest", "imported", "_tree", "_code"):  # those of the real ones are needed again
        monkeypatch.setattr(sources, name, functools.cache(getattr(sources, name).__wrapped__))
    return tmp_path


def clear_caches() -> None:
    for function in (sources.digest, sources.imported, sources._tree, sources._code):
        function.cache_clear()


def test_imports_are_followed(modules: Path) -> None:
    paper = ["cgscore_paper", "cgscore_paper.figure"]
    core = ["cgscore", "cgscore.api", "cgscore.kernel"]
    assert sources.dependencies("cgscore_paper.figure") == [*core, "cgscore_paper.figure"]
    assert sources.dependencies("cgscore_paper.table") == [*core, *paper, "cgscore_paper.table"]


@pytest.mark.parametrize(
    ("file", "text", "same"),
    [
        ("cgscore/kernel.py", "x = 2\n", False),
        ("cgscore/kernel.py", '"""Kernel."""\n\n# one\nx = 1  # is one\n', True),
        ("cgscore/kernel.py", '__version__ = "9.0"\nx = 1\n', True),
        ("cgscore/other.py", "x = 2\n", True),
        ("cgscore/api.py", "from cgscore.other import x\n", False),
    ],
)
def test_digests_change_with_code(modules: Path, file: str, text: str, same: bool) -> None:
    before = sources.digest("cgscore_paper.table")
    (modules / file).write_text(text)
    clear_caches()
    assert (sources.digest("cgscore_paper.table") == before) is same


@pytest.mark.parametrize("file", ["bench/beside.py", "cgscore/kernel.py"])
def test_digests_of_scripts_follow_files_beside_them_and_names_of_the_package(
    modules: Path, file: str
) -> None:
    (modules / "bench").mkdir()
    script = modules / "bench" / "script.py"
    script.write_text("import cgscore\nfrom beside import x\ncgscore.score(x)\n")
    (modules / "bench" / "beside.py").write_text("x = 1\n")
    before = sources.script_digest(script)
    (modules / "cgscore" / "other.py").write_text("x = 3\n")
    clear_caches()
    assert sources.script_digest(script) == before
    (modules / file).write_text("x = 2\n")
    clear_caches()
    assert sources.script_digest(script) != before


def test_code_without_comments_and_docstrings() -> None:
    text = (
        '"""Module."""\n\nx = "# no comment"  # comment\n\n\n'
        'def f():\n    """Function.\n\n    More.\n    """\n    return """text"""\n'
    )
    assert sources.code(text) == 'x = "# no comment"\ndef f():\n    return """text"""'


def test_real_jobs_depend_on_the_kernel() -> None:
    names = sources.dependencies("cgscore_paper.scores")
    assert {"cgscore.kernel", "cgscore.solvers.sampled.shared_draws", "cgscore.api"} <= set(names)
    assert "cgscore_paper.figure_1" not in names


def test_modules_that_are_loaded_by_name() -> None:
    expected = {"cgscore.methods.exact", "cgscore.methods.subsample"}
    assert expected <= sources.imported("cgscore.methods")
