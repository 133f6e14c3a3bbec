"""Checks the English of pages, help texts, docstrings and messages: ``python -m tests.docs.prose``.

proselint finds clichés, redundancies, repeated words and the like (`CHECKS`); `RULES` are words of
our own, and no sentence of a page has more than `MAX_WORDS` words. Status 1 if something is found.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, name, pages, prose

MAX_WORDS = 45
#: Texts of the code with fewer words are names, keys or parts of a line.
MESSAGE_WORDS = 4
GENERATED = {"docs/reproduction.md"}
CHECKS = (
    "archaism",
    "cliches",
    "hedging",
    "industrial_language",
    "lexical_illusions",
    "malapropisms",
    "misc",
    "mixed_metaphors",
    "mondegreens",
    "needless_variants",
    "nonwords",
    "oxymorons",
    "redundancy",
    "terms",
    "uncomparables",
)
#: What is not written, and what to write instead.
RULES = {
    r"\b(?:simply|just|easily|obviously|of course)\b": "leave it out: what is easy for whom?",
    r"\butili[sz]e[sd]?\b": "use",
    r"\bleverag(?:e|es|ed|ing)\b": "use",
    r"\bin order to\b": "to",
    r"\bdue to the fact\b": "because",
    r"\bprior to\b": "before",
    r"\bplease note\b|(?:^|[.!?]\s+)note that\b|\bit should be noted\b": "say it",
    r"\bmakes? no sense\b": "say what was found and what was expected",
    r"\bseamless(?:ly)?\b|\bpowerful\b|\bblazing(?:ly)?\b|\bcutting-edge\b": "a figure, or nothing",
    r"\bspeaks? for it\b": "supports",
    r"\bsaid again\b": "given again",
    r"\be\.?g\.|\bi\.e\.|\betc\.": "for example, that is, and so on",
    r"\bdata is\b": "data are",
    r"\b(?:TODO|FIXME|XXX)\b": "do it, or leave it out",
}
_CODE = re.compile(r"``[^`]*``|`[^`]*`")
_REPEATED = re.compile(r"'([a-z]{2,}) \1'")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")


def problems(text: str, *, sentences: bool = True) -> Iterator[tuple[int, str]]:
    """What is wrong with a text: the line, and what it is."""
    for pattern, better in RULES.items():
        for match in re.finditer(pattern, text, re.I):
            yield _line(text, match.start()), f"'{match[0]}': {better}"
    for position, message in _proselint(text):
        yield _line(text, position), message
    for match in re.finditer(r"(?:[^\n]+\n?)+", text) if sentences else ():
        for item in re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", match[0]):
            for sentence in _SENTENCE.split(" ".join(item.split())):
                if len(sentence.split()) > MAX_WORDS:
                    words = len(sentence.split())
                    yield _line(text, match.start()), f"{words} words: {sentence[:60]} ..."


def _proselint(text: str) -> list[tuple[int, str]]:
    from proselint.checks import __register__
    from proselint.registry import CheckRegistry
    from proselint.tools import LintFile

    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    config: Any = {"checks": dict.fromkeys(CHECKS, True), "max_errors": 1000}
    found = LintFile("text", re.sub(r"^(#+ .*)$", r"\1.", text, flags=re.M)).lint(config)
    results = [result.check_result for result in found]
    return [(result.span[0], result.message) for result in results]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def help_texts() -> Iterator[tuple[str, str]]:
    """Every command and option of the command line with its help."""
    import typer.main

    from cgscore.cli import app

    group: Any = typer.main.get_command(app)
    for title, command in group.commands.items():
        yield f"cgscore {title}", command.help or ""
        for parameter in command.params:
            yield f"cgscore {title} {parameter.name}", getattr(parameter, "help", None) or ""


def code_texts(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of every docstring and message of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            pieces = [
                part.value if isinstance(part, ast.Constant) else "``" for part in node.values
            ]
            text = "".join(map(str, pieces))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if len(text.split()) >= MESSAGE_WORDS:
            numbers = itertools.count()
            yield node.lineno, _CODE.sub(lambda _: f"code{next(numbers)}", text)  # noqa: B023


def main() -> int:
    """Print what is found in all pages, help texts and modules; 1 if anything is."""
    count = 0
    roots = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    for page in [*pages(), *roots]:
        if name(page) in GENERATED:
            continue
        for line, message in problems(prose(page)):
            print(f"{name(page)}:{line}: {message}")
            count += 1
    for where, text in dict(help_texts()).items():
        for _, message in problems(text, sentences=False):
            print(f"{where}: {message}")
            count += 1
    for path in sorted((ROOT / "src").rglob("*.py")):
        for start, text in code_texts(path):
            for line, message in problems(text, sentences=False):
                if "lexical illusion" in message and not _REPEATED.search(message):
                    continue  # rows of a table, formulas
                print(f"{name(path)}:{start + line - 1}: {message}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
