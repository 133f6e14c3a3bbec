"""Checks the English of pages and of help texts: ``python -m tests.docs.prose``.

proselint finds clichés, redundancies, repeated words and the like (`CHECKS`); `RULES` are words of
our own, and no sentence of a page has more than `MAX_WORDS` words. Status 1 if something is found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from tests.docs.pages import ROOT, name, pages, prose

MAX_WORDS = 45
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
    r"\bplease note\b|\bnote that\b|\bit should be noted\b": "say it",
    r"\bmakes? no sense\b": "say what was found and what was expected",
    r"\bseamless(?:ly)?\b|\bpowerful\b|\bblazing(?:ly)?\b|\bcutting-edge\b": "a figure, or nothing",
    r"\bspeaks? for it\b": "supports",
    r"\bsaid again\b": "given again",
    r"\be\.?g\.|\bi\.e\.|\betc\.": "for example, that is, and so on",
    r"\bdata is\b": "data are",
    r"\b(?:TODO|FIXME|XXX)\b": "do it, or leave it out",
}
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


def main() -> int:
    """Print what is found in all pages and help texts; 1 if anything is."""
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
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
