"""The pages of the documentation, and the code blocks in them.

A block of Python, or a block of commands (``console``, lines that begin with ``$``), is run. What
it prints stands in a block ``text`` after the Python, or below each command. Commands of a block
``sh`` are run too; what they print is not shown. Comments in a page that a reader does not see say
what is different:

==================================  =============================================================
``<!-- setup``  ...  ``-->``        Python that is run at this place, and not shown
``<!-- not run: REASON -->``        the next block is not run, only compiled
``<!-- no block is run: ... -->``   the same for all blocks of the page
``<!-- may differ: REASON -->``     the next block may print something else on another machine
==================================  =============================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *```$", re.M | re.S)
_SETUP = re.compile(r"^<!-- setup\n(?P<text>.*?)^-->$", re.M | re.S)
_NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*\Z")
_MAY_DIFFER = re.compile(r"<!-- may differ: [^>]+ -->\s*\Z")
_NOTHING_RUN = re.compile(r"^<!-- no block is run: [^>]+ -->$", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    language
        What follows the fence: ``python``, ``console``, ``sh``, ``text``, or ``setup``
        for a comment.
    text
        What is in it.
    start, end
        Where `text` is in the page, in characters.
    line
        Number of its first line.
    run
        Whether it is to be run.
    output
        Whether it is what the Python block before it prints.
    may_differ
        Whether another machine may print something else.
    """

    language: str
    text: str
    start: int
    end: int
    line: int
    run: bool
    output: bool = False
    may_differ: bool = False


def pages() -> list[Path]:
    """The README and all pages, in the order of their names."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name(page: Path) -> str:
    """A page by its path from the root of the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    return list(_blocks(page.read_text(encoding="utf-8")))


def _blocks(text: str) -> Iterator[Block]:
    whole = not _NOTHING_RUN.search(text)
    found = sorted([*_FENCE.finditer(text), *_SETUP.finditer(text)], key=lambda m: m.start())
    before: re.Match[str] | None = None
    may_differ = False
    for match in found:
        language = match.groupdict().get("language", "setup")
        gap = text[before.end() : match.start()] if before else text[: match.start()]
        after_python = before is not None and before.groupdict().get("language") == "python"
        output = language == "text" and after_python and not gap.strip()
        may_differ = bool(_MAY_DIFFER.search(gap)) or (output and may_differ)
        start, end = match.span("text")
        yield Block(
            language,
            match["text"],
            start,
            end,
            text.count("\n", 0, start) + 1,
            run=whole
            and language in ("python", "console", "sh", "setup")
            and not _NOT_RUN.search(gap)
            and not match.groupdict().get("indent"),
            output=output,
            may_differ=may_differ,
        )
        before = match


def prose(page: Path) -> str:
    """The page with blocks, code, tables, comments and addresses blanked, and its lines kept."""
    text = page.read_text(encoding="utf-8")
    for pattern in (_FENCE, re.compile(r"<!--.*?-->", re.S), re.compile(r"^\|.*$", re.M)):
        text = pattern.sub(lambda m: "\n" * m[0].count("\n"), text)
    text = re.sub(r"`[^`]*`", lambda m: "code" + "\n" * m[0].count("\n"), text)
    return re.sub(r"\]\([^)]*\)", "]", text)
