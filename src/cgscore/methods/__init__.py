"""Ways to score: one file for each method behind one contract, and `auto` to choose.

A method states its name, the options it takes and what it costs, and runs: see `method.Method`. A
new one is a file here with a class, and a line in `cgscore.method_names`; `cgscore.score`, the
command line, ``cgscore info`` and the table in ``docs/methods.md`` follow from it. Methods are
imported when they are first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from cgscore.method_names import SUMMARIES

if TYPE_CHECKING:
    from cgscore.methods.method import Method


class _Methods(Mapping[str, "Method"]):
    """The methods by name; each is the object ``METHOD`` of its module."""

    def __getitem__(self, name: str) -> Method:
        if name not in SUMMARIES:
            raise KeyError(name)
        method: Method = import_module(f"cgscore.methods.{name}").METHOD
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)

    def __contains__(self, name: object) -> bool:
        return name in SUMMARIES


METHODS: Mapping[str, Method] = _Methods()

__all__ = ["METHODS", "SUMMARIES"]
