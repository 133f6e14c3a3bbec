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


def module(name: str) -> Any:
    """The module of an item, which has ``TITLE`` and ``make(work, plan)``."""
    if name not in ITEMS:
        raise OptionError(f"NAME must be one of {', '.join(ITEMS)}; got {name!r}.")
    return importlib.import_module(f"cgscore_paper.{name.replace('-', '_')}")


def do(name: str, work: Work, plan: Plan, folder: Path) -> Written:
    """Make one item and write its files to a folder."""
    item, start = module(name), time.perf_counter()
    item_work = replace(work, used={})
    with style():
        result = item.make(item_work, plan)
    written = Written(name, item.TITLE, result, sum(item_work.used.values()))
    if not item_work.used:
        written = replace(written, seconds=time.perf_counter() - start)
    written.write(folder, plan)
    return written


def do_all(
    work: Work,
    plan: Plan,
    folder: Path,
    page: Path,
    *,
    names: Sequence[str] = ITEMS,
    on_item: Callable[[Written], object] = lambda done: None,
) -> list[Written]:
    """Make every item, and a page of them all; `on_item` is called after each."""
    written = []
    for name in names:
        written.append(do(name, work, plan, folder))
        on_item(written[-1])
    page.parent.mkdir(parents=True, exist_ok=True)
    relative = Path(os.path.relpath(folder, page.parent)).as_posix()
    text = _page(written, plan, "" if relative == "." else f"{relative}/")
    replace_file(page, lambda file: file.write(text.encode()))
    return written


def _page(written: Sequence[Written], plan: Plan, folder: str) -> str:
    far = sum(comparison.apart for item in written for comparison in item.result.compared)
    count = sum(len(item.result.compared) for item in written)
    contents = "\n".join(f"- [{item.title}](#{_anchor(item.title)})" for item in written)
    head = f"""# The paper, figure by figure

Every figure and table of "Data Valuation Without Training of a Model" (ICLR 2023), made by
`cgscore paper --all --preset {plan.name}`; one of them by `cgscore paper NAME` (`--list`).
Numbers, settings and seeds are in the JSON files beside the figures. A run that was interrupted
goes on where it was.

- Scores that need no training are those of whole datasets, by the paper's estimator with
  {plan.runs} runs where nothing else is said (the classes of a run share one draw of others:
  `cgscore/solvers/sampled/shared_draws.py`).
- {plan.description}
- CIFAR-10 stands in where the paper shows CIFAR-100. CIFAR-100, MNIST and ImageNet are read
  where they are found; what is not found says "not run".
- Seconds are those of the wall clock, on two cores that also did other work.
- Wrong labels: an exact count, the same share of every class, spread evenly over the others.
- {count} numbers of the paper stand beside ours; {far} of them are more than 0.03 apart, each
  with the cause. Of trainings the paper prints curves and no numbers.

{contents}
"""
    return "\n".join([head, *(item.fragment(folder) for item in written)])


def _anchor(title: str) -> str:
    letters = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return letters.replace(" ", "-")
