"""What the command line prints: words, tables, JSON, and nothing that could steer a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from rich.console import Console

    from cgscore.data import Dataset
    from cgscore.data.inspection import Inspection
    from cgscore.result.scores import Scores

WORST = 10  # suspects shown
WIDTH = 40  # characters of an id, label or text shown


def stop_printing() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """Let what is printed to a closed standard output or error go nowhere.

    Its number would otherwise be given to the next file that is opened.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def complain(text: str) -> None:
    """Print to standard error."""
    print("".join(printable(mark) for mark in text), file=sys.stderr)


def printable(mark: str) -> str:
    """Characters that could steer a terminal are shown as escapes."""
    return mark if mark.isprintable() or mark == "\n" else mark.encode("unicode_escape").decode()


def shown(value: Any) -> str:
    """An id or label for a terminal: on one line, of bounded width, with nothing hidden in it."""
    text = one_line(str(value))
    return text if len(text) <= WIDTH else f"{text[: WIDTH // 2]}…{text[1 - WIDTH // 2 :]}"


def output_console() -> Console:
    """A console for results; what is piped has no width to fit into."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Go on without printing: the result is still to be written."""
            stop_printing()

    width = None if sys.stdout.isatty() else 200
    return Output(highlight=False, markup=False, emoji=False, width=width)


def print_json(document: dict[str, Any]) -> None:
    """One JSON document."""
    print(json.dumps(plain(document), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON knows it; infinite and missing numbers become null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def print_kept(
    console: Console, scores: Scores, kept: Any, order: str, by: str, values: Any
) -> None:
    """What stays, in words."""
    gone = scores.table.index.difference(kept)
    text = (
        f"{len(kept):,} of {len(scores):,} examples stay ({len(kept) / len(scores):.1%}), {order}"
    )
    if len(scores.classes):
        counts = scores.table["given_label"].iloc[kept].value_counts()
        text += f", of {len(counts)} of {len(scores.classes)} classes: {counts.min():,} to "
        text += f"{counts.max():,} of each"
    console.print(text, soft_wrap=True)
    for name, rows in (("kept", kept), ("removed", gone)):
        if len(rows):
            some = values[rows]
            console.print(
                f"  {name:<8} {by} {some.min():.3g} to {some.max():.3g}, mean {some.mean():.3g}"
            )


def print_issues(
    console: Console,
    scores: Scores,
    found: pd.DataFrame,
    suspects: pd.DataFrame,
    told: pd.DataFrame | None = None,
) -> None:
    """The verdict in words, then suspects as a table."""
    attrs = found.attrs
    low, high = attrs["interval"]
    marked = int(found["is_label_issue"].sum())
    judged = int(found["label_score"].notna().sum())
    console.print(
        f"About {attrs['estimated_wrong']:,.0f} of {judged:,} labels look wrong (95 %: "
        f"{low:,.0f} to {high:,.0f}); {marked:,} are flagged (by {attrs['by']}, ridge "
        f"{scores.meta['ridge']:.3g})."
    )
    kinds = found["kind"].value_counts()
    others = [f"{n:,} {kind}" for kind, n in kinds.items() if kind not in ("", "wrong label")]
    if others:
        console.print(f"Also: {', '.join(others)}.")
    if attrs["hint"]:
        console.print(attrs["hint"], soft_wrap=True)
    if len(suspects):
        console.print("The worst:")
        print_suspects(console, scores, suspects, told)


def print_suspects(
    console: Console, scores: Scores, suspects: pd.DataFrame, told: pd.DataFrame | None = None
) -> None:
    """A table of suspects; with the true label if that is known, with neighbours if told."""
    from rich.table import Table

    names = scores.meta["class_names"]
    called = dict(zip(scores.classes.tolist(), names or scores.classes.tolist(), strict=True))
    columns = {
        "given_label": "given",
        "predicted_label": "suggested",
        "true_label": "true",
        "confidence": "sure",
        "runner_up": "runner-up",
        "cg": "CG",
    }
    wanted = [name for name in columns if name in suspects.columns]
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    drawn.add_column("id", no_wrap=True)
    for name in wanted:
        right = name in ("confidence", "cg")
        drawn.add_column(columns[name], justify="right" if right else "left", no_wrap=True)
    if scores.texts is not None:
        drawn.add_column("text", no_wrap=True)
    if told is not None:
        drawn.add_column("like the given / like the suggested (share)", no_wrap=True)
    for label, row in suspects.iterrows():
        cells = [shown(label)]
        for name in wanted:
            if name in ("confidence", "cg"):
                cells.append(f"{row[name]:.0%}" if name == "confidence" else f"{row[name]:.2f}")
            else:
                cells.append(shown(called.get(row[name], row[name])))
        if scores.texts is not None:
            cells.append(shown(scores.texts[row["position"]]))
        if told is not None:
            mine = told[told["position"] == row["position"]]
            sides = [
                ", ".join(
                    f"{shown(near)} ({share:.1%})"
                    for near, share in zip(part["neighbour"], part["share"], strict=True)
                )
                for part in (mine[mine["side"] == side] for side in ("given", "suggested"))
            ]
            cells.append(" / ".join(sides))
        drawn.add_row(*cells)
    console.print(drawn)


def print_source(
    console: Console, dataset: Dataset, task: str, found: Inspection | None = None
) -> None:
    """What the data are."""
    import numpy as np

    n, p = dataset.shape
    sampled = found is not None and found.sampled is not None
    n = found.n if found is not None else n
    what = f"examples with {p:,} numbers each"
    if dataset.image:
        height, width, *depth = dataset.X.shape[1:]
        what = f"images of {width} x {height} pixels, {'colour' if depth else 'grey'},"
    elif dataset.texts is not None:
        what = f"texts, {p:,} numbers each,"
    elif dataset.drawable:
        what = f"images, {p:,} numbers each,"
    text = f"{one_line(dataset.source)}   {n:,} {what}"
    if sampled and found is not None and found.classes:
        label = min(found.classes, key=found.classes.__getitem__)
        name = (dataset.class_names or {}).get(label, label)
        text += f" in {len(found.classes):,} classes (smallest: {shown(name)}, "
        text += f"{found.classes[label]:,})"
    elif task == "classification" and dataset.y is not None and not sampled:
        labels, counts = np.unique(dataset.y, return_counts=True)
        least = int(np.argmin(counts))
        name = (dataset.class_names or {}).get(labels.tolist()[least], labels[least])
        text += f" in {len(labels):,} classes (smallest: {shown(name)}, {counts[least]:,})"
    console.print(text, soft_wrap=True)
    if dataset.preprocessing != "none":
        console.print(f"inputs    {dataset.preprocessing}", soft_wrap=True)
    for note in dataset.notes:
        console.print(f"note      {one_line(note)}", soft_wrap=True)


def print_inspection(console: Console, dataset: Dataset, found: Inspection) -> None:
    """What the data are, class by class, and what looks like a mistake."""
    print_source(console, dataset, "classification", found)
    if found.classes:
        names = dataset.class_names or {}
        ordered = sorted(found.classes.items(), key=lambda one: -one[1])
        parts = [f"{shown(names.get(label, label))} {count:,}" for label, count in ordered[:20]]
        more = f", and {len(ordered) - 20:,} more" if len(ordered) > 20 else ""
        console.print(f"classes   {', '.join(parts)}{more}", soft_wrap=True)
    if found.copies:
        console.print(
            f"repeats   {found.copies:,} rows are identical to earlier ones, "
            f"{found.conflicts:,} of them with another label"
            + ("" if found.sampled is None else f" (of the {found.sampled:,} in the sample)")
        )
    for suspicion in found.suspicions:
        console.print(f"check     {one_line(suspicion)}", soft_wrap=True)


def one_line(text: str) -> str:
    """Text on one line, with nothing hidden in it."""
    return "".join(printable(mark) for mark in text.replace("\n", "\\n"))


def show_size(path: Path) -> str:
    """The size of a file in words."""
    from cgscore.execution.machine import show_bytes

    return show_bytes(path.stat().st_size)


def print_costs(console: Console, n: int, p: int, k: int) -> None:
    """What each method would take; one line if a glance is enough."""
    from cgscore.execution.machine import (
        available_memory,
        product_rate,
        show_bytes,
        show_seconds,
    )
    from cgscore.methods import Options
    from cgscore.methods.auto import SMALL, costs
    from cgscore.methods.cost import Sizes

    memory, rate = available_memory(), product_rate()
    title = "method"
    found = costs(Sizes(n, p, k), Options.checked())
    large = all(found[name].bytes > memory for name in ("exact", "iterative"))
    for name, cost in found.items():
        if name == "subsample" or (name == "partition" and not large):
            continue  # those whom they serve ask for them
        text = f"{name}: about {show_seconds(cost.seconds(rate))} and {show_bytes(cost.bytes)}"
        if cost.bytes > memory:
            text += f", more than the {show_bytes(memory)} available here"
            if cost.least <= memory and cost.disk:
                text += f": works from disk ({show_bytes(cost.disk)})"
            elif cost.least <= memory:
                text += ": works, but forms the kernel matrix for every product"
        console.print(f"{title:<9} {text}", soft_wrap=True)
        title = ""
        if n <= SMALL:
            break


def print_methods(console: Console, document: dict[str, Any], workers: int | None) -> None:
    """A table of what each method takes, here or on a cluster."""
    from rich.table import Table

    from cgscore.execution.machine import cores, show_bytes, show_seconds

    rate = document["flops_per_second"]
    where = f"on {workers:,} workers" if workers else "here"
    console.print(
        f"speed     {rate / 1e9:.0f} GFLOP/s in matrix products on {cores()} cores, measured now"
    )
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    memory = "each worker" if workers else "memory"
    for name in ("method", "tasks", "flops", memory, *(["moved"] if workers else []), where):
        drawn.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    drawn.add_column("")
    for name, cost in document["methods"].items():
        cells = [name, f"{cost['tasks']:,}", f"{cost['flops']:.2g}"]
        note = ""
        if workers:
            cells += [show_bytes(cost["worker_bytes"]), show_bytes(cost["bytes_moved"])]
            note = "" if cost["fits_worker"] else "does not fit"
            if name == "exact":
                cells[-1], note = "-", "; ".join(filter(None, ["on one machine", note]))
        else:
            cells.append(show_bytes(cost["bytes"]))
            if not cost["fits"]:
                note = "does not fit"
                if cost["least_bytes"] <= document["available_memory"] and cost["disk"]:
                    note = f"from disk: {show_bytes(cost['disk'])}"
        drawn.add_row(*cells, show_seconds(cost["seconds"]), note)
    console.print(drawn)


def print_audit(console: Console, scores: Scores) -> None:
    """Which method was chosen, and how near it came."""
    choice, audit = scores.meta["choice"], scores.meta["audit"]
    if choice is not None:
        console.print(f"chosen    {choice['method']}: {choice['why']}")
    if audit is not None:
        low, high = audit["rank_correlation_interval"]
        errors = ", ".join(
            f"{name} {audit[name]['median_error']:.1%}"
            for name in ("cg", "partial", "margin")
            if name in audit
        )
        console.print(
            f"audit     rank correlation with the exact score {audit['rank_correlation']:.4f} "
            f"(95 %: {low:.4f} to {high:.4f}), from {audit['examples']} examples;\n"
            f"          median errors: {errors}",
            soft_wrap=True,
        )
        if "top_percent" in audit:
            low, high = audit["top_percent_interval"]
            console.print(
                f"          {audit['top_percent']:.1%} of the true top 1 % by cg are in the "
                f"estimated top 1 % (95 %: {low:.1%} to {high:.1%})",
                soft_wrap=True,
            )


def print_findings(console: Console, scores: Scores) -> None:
    """What was found, in words and then as a table."""
    for line in repr(scores).splitlines()[1:]:
        if not line.startswith("  audit"):  # shown in full before
            console.print(line.strip())
    if not len(scores.classes):
        return
    if not scores.table["margin"].notna().any():  # too few runs: the warnings say so
        return
    from cgscore.issues.table import worst_first

    found = scores.label_issues()
    print_issues(console, scores, found, worst_first(found).head(WORST))
