"""The figures and tables of the paper, in its order, and how they are made."""

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

#: Name at the command line; modules are named so with an underscore.
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
    """The module of an item: ``TITLE`` and ``make(work, plan)``."""
    if name not in ITEMS:
        raise OptionError(f"There is no {name!r}. Choose from: {', '.join(ITEMS)}")
    return importlib.import_module(f"cgscore_paper.{name.replace('-', '_')}")


def do(name: str, work: Work, plan: Plan, folder: Path) -> Written:
    """Make one item and write it to a folder."""
    item, start = module(name), time.perf_counter()
    own = replace(work, used={})
    with style():
        result = item.make(own, plan)
    done = Written(name, item.TITLE, result, sum(own.used.values()))
    if not own.used:
        done = replace(done, seconds=time.perf_counter() - start)
    done.write(folder, plan)
    return done


def do_all(
    work: Work,
    plan: Plan,
    folder: Path,
    page: Path,
    *,
    names: Sequence[str] = ITEMS,
    told: Callable[[Written], object] = lambda done: None,
) -> list[Written]:
    """Make every item, and a page of them all."""
    found = []
    for name in names:
        found.append(do(name, work, plan, folder))
        told(found[-1])
    page.parent.mkdir(parents=True, exist_ok=True)
    where = Path(os.path.relpath(folder, page.parent)).as_posix()
    text = _page(found, plan, "" if where == "." else f"{where}/")
    replace_file(page, lambda file: file.write(text.encode()))
    return found


def _page(found: Sequence[Written], plan: Plan, folder: str) -> str:
    apart = sum(one.apart for done in found for one in done.result.compared)
    count = sum(len(done.result.compared) for done in found)
    contents = "\n".join(f"- [{done.title}](#{_anchor(done.title)})" for done in found)
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
- {count} numbers of the paper stand beside ours; {apart} of them are more than 0.03 apart, each
  with the cause. Of trainings the paper prints curves and no numbers.

{contents}
"""
    return "\n".join([head, *(done.fragment(folder) for done in found)])


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")
