"""Pages name what exists: links, pages of the navigation, public names, commands and flags."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import cgscore
from cgscore import errors
from cgscore.cli import app
from tests.docs import run_pages
from tests.docs.pages import DOCS, ROOT, Block, blocks, name, pages
from tests.docs.run_pages import (
    DIFFERS,
    DIFFERS_WHERE_IT_MAY,
    RUN_BY_TESTS,
    has_code,
    run_page,
    same,
)
from tests.docs.site import loaded_from_elsewhere

ALL = [*pages(), *(ROOT / other for other in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))]
#: Pages that MkDocs makes of other files (docs/hooks.py).
GENERATED = {"index.md", "contributing.md", "changelog.md", "security.md", "examples.md"}


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page may name."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading)) for heading in plain}


def links(page: Path) -> Iterator[tuple[str, str]]:
    """File and heading of every link that does not leave the repository."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if not re.match(r"[a-z]+:", target):
            path, _, heading = target.partition("#")
            yield path, heading


@pytest.mark.parametrize("page", ALL, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for path, heading in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} does not exist"
        assert target.is_relative_to(ROOT)
        if heading and target.suffix == ".md":
            assert heading in anchors(target), f"{path} has no heading #{heading}"


def test_every_page_is_in_the_navigation() -> None:
    """And the navigation names no other."""
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    named = re.findall(r"^ +- [^#\n]*?: (\S+\.md)$", navigation, re.M)
    assert len(named) == len(set(named))
    assert set(named) == {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")} | GENERATED


#: Pages whose title says more than the navigation has room for.
TITLED_OTHERWISE = {
    "evidence/detection.md",
    "evidence/selection.md",
    "reproduction.md",
    "scale.md",
}


def test_titles_are_those_of_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    for title, path in re.findall(r"^ +- ([^#\n]*?): (\S+\.md)$", navigation, re.M):
        if path not in GENERATED | TITLED_OTHERWISE:
            assert (DOCS / path).read_text(encoding="utf-8").startswith(f"# {title}\n"), path


def documented() -> set[str]:
    """The objects that the reference describes."""
    text = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    return set(re.findall(r"^::: (\S+)$", text, re.M))


def test_every_public_name_has_a_place_in_the_reference() -> None:
    described = documented()
    for public in cgscore.__all__:
        in_errors = hasattr(errors, public) and "cgscore.errors" in described
        assert f"cgscore.{public}" in described or in_errors, public
    modules = {path.stem for path in (ROOT / "src/cgscore/adapters").glob("[a-z]*.py")}
    assert {f"cgscore.adapters.{module}" for module in modules} <= described


def test_every_name_of_training_has_a_place_in_the_reference() -> None:
    pytest.importorskip("torch")
    from cgscore import training

    described = documented()
    for public, home in training._HOMES.items():
        assert f"cgscore.training.{home}.{public}" in described


def python_blocks() -> list[Any]:
    """The Python of all pages."""
    return [
        pytest.param(block, id=f"{name(page)}:{block.line}")
        for page in pages()
        for block in blocks(page)
        if block.language in ("python", "setup")
    ]


@pytest.mark.parametrize("block", python_blocks())
def test_python_compiles(block: Block) -> None:
    compile(block.text, "page", "exec")


def commands() -> list[Any]:
    """Every line of a block that calls ``cgscore``."""
    return [
        pytest.param(line.removeprefix("$ "), id=f"{name(page)}:{block.line + i}")
        for page in ALL
        for block in blocks(page)
        if block.language in ("", "console", "sh")
        for i, line in enumerate(block.text.splitlines())
        if re.match(r"(\$ )?cgscore (?!\d)", line)
    ]


@pytest.mark.parametrize("line", commands())
def test_commands_and_flags_exist(line: str) -> None:
    group: Any = typer.main.get_command(app)
    words = shlex.split(line, comments=True)[1:]
    if words[0] == "--version":
        return
    command = group.commands[words[0]]
    flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
    for word in words[1:]:
        if word.startswith("-") and not re.fullmatch(r"-[\d.]+", word):
            assert word.partition("=")[0] in flags | {"-h", "--help"}, word


def test_every_command_is_named_in_the_reference() -> None:
    """The page has a mark where MkDocs puts the list; the list is made of the commands."""
    assert "<!-- commands -->" in (DOCS / "reference" / "commands.md").read_text()


def test_what_counts_as_the_same_output() -> None:
    assert same("took 0.5 s\naccuracy 0.981", "took 7.25 s\naccuracy 0.982")
    assert same("exact: about 0.2 s and 1 MB", "exact: < 0.1 s and 1 MB")
    assert same("first\n...\nlast 3", "first\nsecond\nthird\nlast 3")
    assert same("file ... written", "file a.csv written")
    assert not same("accuracy 0.981", "accuracy 0.95")
    assert not same("81 flagged", "85 flagged")
    assert not same("first\nlast", "first\nsecond\nlast")
    assert not same("cat", "dog")


def test_which_blocks_may_differ(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    listed = "<!-- may differ: the worst are listed -->\n\n```python\nprint(1)\n```\n\n"
    output, other = "```text\n1\n```\n\n", "```console\n$ echo 2\n2\n```\n"
    page.write_text(listed + output + other)
    assert [block.may_differ for block in blocks(page)] == [True, True, False]
    assert [block.output for block in blocks(page)] == [False, True, False]


@pytest.mark.parametrize(
    ("listed", "counted", "status"),
    [
        ("cat", "dog", 0),
        ("lynx", "dog", DIFFERS_WHERE_IT_MAY),
        ("cat", "lynx", DIFFERS),
        ("lynx", "lynx", DIFFERS),
    ],
)
def test_another_output_fails_unless_it_may_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, counted: str, status: int
) -> None:
    monkeypatch.setenv("CGSCORE_CACHE", "")  # set by the page; both are put back afterwards
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_pages, "name", lambda page: page.name)
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- may differ: a reason -->\n\n"
        f"```python\nprint('cat')\n```\n\n```text\n{listed}\n```\n\n"
        f"```python\nprint('dog')\n```\n\n```text\n{counted}\n```\n"
    )
    assert run_page(page, write=False) == status


def test_tutorials_are_run() -> None:
    for page in (DOCS / "tutorials").glob("*.md"):
        assert any(block.run and block.language == "python" for block in blocks(page)), page
        assert any(block.output for block in blocks(page)), page


def test_all_code_is_run() -> None:
    """By ``make test-docs``, or by a test that reads the page."""
    for page in pages():
        languages = {block.language for block in blocks(page)}
        if languages & {"python", "console", "sh"} and not has_code(page):
            test = ROOT / RUN_BY_TESTS[name(page)]
            assert page.name in test.read_text(encoding="utf-8"), name(page)
    assert set(RUN_BY_TESTS) <= {name(page) for page in pages()}


def test_python_is_marked_as_such() -> None:
    """Or nothing would run or even compile it."""
    for page in pages():
        for block in blocks(page):
            if not block.language:
                code = re.search(r"^(import|from) \w+|^\w+ = \w+[.(]", block.text, re.M)
                assert not code, f"{name(page)}, line {block.line}"


def test_what_counts_as_loaded_from_elsewhere() -> None:
    """Links to follow do not; `make docs` looks at the built site."""
    assert loaded_from_elsewhere('<a href="https://example.org">x</a><img src="a.png">') == []
    assert loaded_from_elsewhere('<script src="//example.org/a.js"></script>') != []
    assert loaded_from_elsewhere('<link rel="stylesheet" href="https://example.org/a.css">') != []
    assert loaded_from_elsewhere("@font-face { src: url(https://example.org/a.woff) }") != []
