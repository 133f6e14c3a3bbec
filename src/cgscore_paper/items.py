"""The figures and tables of the paper, in its order, and the functions that make them."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cgscore.errors import OptionError
from cgscore.execution.files import replace_file
from cgscore_paper.cells import Work
from cgscore_paper.figures import style
from cgscore_paper.page import page_text
from cgscore_paper.plans import Plan
from cgscore_paper.results import Written

#: Names at the command line; the module of each has underscores instead of hyphens.
ITEMS = (
    "figure-1",
    "table-1",
    "figure-2",
    "figure-3",
    "figure-4",
    "appendix-a",
    "appendix-b",
    "appendix-c",
    "appendix-d",
    "appendix-e",
    "appendix-f",
    "appendix-g",
    "appendix-h",
    "appendix-j",
    "theorem-1",
    "beyond",
)
#: Not of the paper, and only of the examples of the preset desk.
SMALL_ITEMS = ("beyond",)


def module(name: str) -> Any:
    """The module of an item, which has ``TITLE`` and ``make(work, plan)``."""
    if name not in ITEMS:
        raise OptionError(f"NAME must be one of {', '.join(ITEMS)}; got {name!r}.")
    return importlib.import_module(f"cgscore_paper.{name.replace('-', '_')}")


def do(name: str, work: Work, plan: Plan, folder: Path) -> Written:
    """Make one item and write its files to a folder.

    With a plan whose cells are computed in the background, from those that are finished.
    """
    item, start = module(name), time.perf_counter()
    if plan.background and name in SMALL_ITEMS:
        raise OptionError(f"{name} is made with --preset desk or paper, not with {plan.name}.")
    item_work = replace(work, used={}, stored_only=work.stored_only or plan.background)
    with style():
        result = item.make(item_work, plan)
    seconds = sum(item_work.used.values()) or time.perf_counter() - start
    written = Written(name, item.TITLE, result, seconds, list(item_work.used))
    written.write(folder, plan)
    return written


def do_all(
    work: Work,
    plan: Plan,
    folder: Path,
    page: Path,
    *,
    names: Sequence[str] = (),
    on_item: Callable[[Written], object] = lambda done: None,
) -> list[Written]:
    """Make every item, and a page of them all; `on_item` is called after each."""
    written = []
    for name in names or [name for name in ITEMS if not plan.background or name not in SMALL_ITEMS]:
        written.append(do(name, work, plan, folder))
        on_item(written[-1])
    page.parent.mkdir(parents=True, exist_ok=True)
    relative = Path(os.path.relpath(folder, page.parent)).as_posix()
    link = "" if relative == "." else f"{relative}/"
    reduced = work.trained_in("bfloat16", {stem for item in written for stem in item.cells})
    text = page_text(written, plan, link, reduced=reduced)
    replace_file(page, lambda file: file.write(text.encode()))
    return written
