"""Tables and plots of what `label_noise.py` measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

METRICS = (
    *("auroc", "average_precision", "precision_at_count", "f1"),
    *("suggestion", "corrected", "seconds"),
)
REGULAR = ("uniform", "one other class")  # noises that do not look at the input


def _groups(cells: list[Any]) -> list[tuple[str, str, list[Any]]]:
    """Data, noise, and the cells of both."""
    return [
        (data, noise, [c for c in cells if (c["data"], c["noise"]) == (data, noise)])
        for data, noise in dict.fromkeys((cell["data"], cell["noise"]) for cell in cells)
    ]


def _answered(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if cell["auroc"] is not None]


def _text(value: float | None) -> str:
    return "        -" if value is None else f"{value:9.4f}"


def _mean(trials: list[Any], key: str) -> float:
    values = [trial[key] for trial in trials if trial[key] is not None]
    return float(np.mean(values)) if values else float("nan")


def _earlier(trials: list[Any], key: str, digits: int) -> str:
    """A figure of the rule of version 0.1, where that was run."""
    return f"{_mean(trials, key):.{digits}f}" if key in trials[0] else "-"


def show(cells: list[Any]) -> None:
    """Tables, a noise each, and where ours is not first."""
    for data, noise, mine in _groups(cells):
        print(f"\n{data}, {noise:<25}" + "  ".join(metric[:9].rjust(9) for metric in METRICS))
        for cell in mine:
            print(f"  {cell['method']:<37}" + "  ".join(_text(cell.get(m)) for m in METRICS))
        trials = next((cell["trials"] for cell in mine if "trials" in cell), None)
        if trials:
            print(
                f"  ours: F1 of version 0.1 {_earlier(trials, 'f1_earlier', 3)}, best threshold "
                f"{_mean(trials, 'f1_best'):.3f}, flag all {_mean(trials, 'f1_all'):.3f}; ECE "
                f"{_mean(trials, 'ece'):.3f}; flagged {_mean(trials, 'flagged'):.0f} of "
                f"{_mean(trials, 'wrong'):.0f}"
            )
        for metric in ("auroc", "average_precision", "f1"):
            if _answered(mine):
                best = max(_answered(mine), key=lambda cell: cell[metric])
                if best["method"] != "ours":
                    print(f"  not first in {metric}: {best['method']}")


def markdown(cells: list[Any]) -> None:
    """Ours against the best of the others, a line for each noise."""
    if not any("trials" in cell for cell in cells):
        return _markdown_of_metrics(cells)
    print(
        "| data | noise | average precision | F1 | rule of 0.1 | best threshold | flag all |"
        " precision | best other class right | predicted label right | ECE |"
    )
    print("|" + "---|" * 11)
    for data, noise, mine in _groups(cells):
        our = next((cell for cell in mine if "trials" in cell), None)
        if our is None or our["auroc"] is None:
            continue
        line, trials = [], our["trials"]
        for metric in ("average_precision", "f1"):
            others = [cell for cell in _answered(mine) if not cell["method"].startswith("ours")]
            best = max(others, key=lambda c: c[metric]) if others else None
            line.append(_against(our, best, metric))
        votes: dict[str, Any] = next((c for c in mine if c["method"] == "k-NN disagreement"), {})
        line.append(_earlier(trials, "f1_earlier", 3))
        line += [f"{_mean(trials, key):.3f}" for key in ("f1_best", "f1_all")]
        line.append(f"{_mean(trials, 'precision'):.2f}")
        line.append(_beside_votes(our["suggestion"], votes.get("suggestion")))
        line.append(_beside_votes(_mean(trials, "predicted_right"), votes.get("corrected")))
        line.append(f"{_mean(trials, 'ece'):.3f}")
        print(f"| {data} | {noise} | {' | '.join(line)} |")
    _markdown_of_solvers(cells)


def _markdown_of_solvers(cells: list[Any]) -> None:
    """Ours from the predictions of several methods, a line for each."""
    print(
        "\n| data | noise | method | average precision | F1 | best threshold | wrong | interval |"
    )
    print("|" + "---|" * 8)
    for data, noise, mine in _groups(cells):
        ours = [cell for cell in mine if cell["method"].startswith("ours") and "trials" in cell]
        if len(ours) == 1:
            continue
        for cell in ours:
            trials, whole = cell["trials"], cell["examples"] > 20_000
            first = "iterative" if whole else "exact"
            print(
                f"| {data} | {noise} | {cell['method'].partition(', ')[2] or first} | "
                f"{cell['average_precision']:.3f} | {cell['f1']:.3f} | "
                f"{_mean(trials, 'f1_best'):.3f} | {_mean(trials, 'wrong'):.0f} | "
                f"{_mean(trials, 'low'):.0f} to {_mean(trials, 'high'):.0f} |"
            )


def _markdown_of_metrics(cells: list[Any]) -> None:
    """Ours against the best of the others in three metrics."""
    print("| data | noise | AUROC | average precision | F1 | suggested label right |")
    print("|---|---|---|---|---|---|")
    for data, noise, mine in _groups(cells):
        (our,) = (cell for cell in mine if cell["method"] == "ours")
        others = [cell for cell in _answered(mine) if cell is not our]
        line = [
            _against(our, max(others, key=lambda c: c[metric]), metric)
            for metric in ("auroc", "average_precision", "f1")
        ]
        print(f"| {data} | {noise} | {' | '.join(line)} | {our['suggestion']:.3f} |")


def _beside_votes(our: float, votes: float | None) -> str:
    return f"{our:.3f}" + ("" if votes is None else f" / {votes:.3f} k-NN")


def bins(cells: list[Any]) -> None:
    """Share of wrong labels, in per cent, by the probability of it, in bins of equal count."""
    for data, noise, mine in _groups(cells):
        our = next((cell for cell in mine if "trials" in cell), None)
        if our is None or our["auroc"] is None:
            continue
        table = 100 * np.mean([trial["bins"] for trial in our["trials"]], axis=0)
        print(f"\n{data}, {noise}: ECE {_mean(our['trials'], 'ece'):.3f}")
        for title, column in (("probability", 0), ("share wrong", 1)):
            print(f"  {title:<12}" + "".join(f"{value:6.1f}" for value in table[:, column]))


def _against(our: Any, best: Any, metric: str) -> str:
    us = f"{our[metric]:.3f}"
    if best is None:
        return us
    them = f"{best[metric]:.3f}"
    us, them = (f"**{us}**", them) if our[metric] > best[metric] else (us, f"**{them}**")
    return f"{us} / {them} {best['method']}"


def estimates(cells: list[Any]) -> None:
    """Estimated and true number of wrong labels, coverage of the interval, and the promise."""
    print(
        "| data | noise | wrong | estimated | rule of 0.1 | interval | holds | half-width | "
        "promise: flagged | precision | of what is possible |"
    )
    print("|" + "---|" * 11)
    coverage: dict[bool, list[bool]] = {True: [], False: []}
    widths: dict[bool, list[float]] = {True: [], False: []}
    kept: list[bool] = []
    for data, noise, mine in _groups(cells):
        trials: list[Any] = next((cell["trials"] for cell in mine if "trials" in cell), [])
        if not trials:
            continue
        regular = any(word in noise for word in REGULAR)
        held = [trial["low"] <= trial["wrong"] <= trial["high"] for trial in trials]
        wide = [(t["high"] - t["low"]) / 2 / t["wrong"] for t in trials if t["wrong"]]
        known = noise != "as published"
        if known:
            coverage[regular] += held
            widths[regular] += wide
            kept += [not t["promise_flagged"] or t["promise_precision"] >= 0.9 for t in trials]
        possible = sum(t["promise_possible"] for t in trials)
        found = sum(t["promise_found"] for t in trials)
        print(
            f"| {data} | {noise} | {_mean(trials, 'wrong'):.0f} | {_mean(trials, 'estimated'):.0f} "
            f"| {_earlier(trials, 'estimated_earlier', 0)} | {_mean(trials, 'low'):.0f} to "
            f"{_mean(trials, 'high'):.0f} | "
            + (f"{sum(held)} of {len(held)} | {np.median(wide):.0%} | " if known else "- | - | ")
            + f"{_mean(trials, 'promise_flagged'):.0f} | "
            + (f"{_mean(trials, 'promise_precision'):.3f} | " if found else "- | ")
            + (f"{found / possible:.2f} |" if possible and found else "- |")
        )
    for regular, title in ((True, "uniform and class-to-class"), (False, "other noise")):
        if coverage[regular]:
            print(
                f"\n{title}: the interval holds the truth in {sum(coverage[regular])} of "
                f"{len(coverage[regular])}; median half-width {np.median(widths[regular]):.0%}"
            )
    print(f"\nthe promise is kept, or nothing is flagged, in {sum(kept)} of {len(kept)}")


def plot(cells: list[Any], path: Path) -> None:
    """Average precision and F1 of every method, a panel for each data set and metric."""
    from matplotlib import pyplot as plt

    judged = {cell["data"] for cell in cells if "trials" in cell}
    cells = [c for c in cells if c["noise"] != "as published" and c["data"] in judged]
    names = list(dict.fromkeys(cell["data"] for cell in cells))
    methods = ["ours", *sorted({cell["method"] for cell in cells} - {"ours"})]
    shown = {"average_precision": "average precision", "f1": "F1 of the decision"}
    figure, panels = plt.subplots(
        len(names), 2, figsize=(9, 1 + 1.5 * len(names)), squeeze=False, sharex=True
    )
    for row, name in enumerate(names):
        mine = [cell for cell in cells if cell["data"] == name]
        noises = list(dict.fromkeys(cell["noise"] for cell in mine))
        for column, (metric, title) in enumerate(shown.items()):
            panel = panels[row][column]
            for number, method in enumerate(methods):
                drawn = [cell for cell in _answered(mine) if cell["method"] == method]
                panel.plot(
                    [cell[metric] for cell in drawn],
                    [noises.index(cell["noise"]) for cell in drawn],
                    "D" if method == "ours" else "o",
                    color="black" if method == "ours" else f"C{number - 1}",
                    markersize=6 if method == "ours" else 4,
                    label=method,
                    zorder=3 if method == "ours" else 2,
                )
            panel.set_yticks(range(len(noises)), noises if column == 0 else [])
            panel.set_ylim(len(noises) - 0.5, -0.5)
            panel.set_xlim(0, 1.02)
            panel.grid(alpha=0.3)
            if row == len(names) - 1:
                panel.set_xlabel(title)
        panels[row][0].set_title(f"{name}, {mine[0]['examples']:,} examples", fontsize=9)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.8 / (1 + 1.5 * len(names)), 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def reliability_plot(cells: list[Any], path: Path) -> None:
    """Share of labels that are wrong against the probability of it, a panel for each data set."""
    from matplotlib import pyplot as plt

    mine = [c for c in cells if "trials" in c and c["noise"] != "as published"]
    names = list(dict.fromkeys(cell["data"] for cell in mine))
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(3 * columns, 3 * rows), squeeze=False, sharex=True, sharey=True
    )
    for panel, name in zip(panels.ravel(), names, strict=False):
        panel.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for cell in (cell for cell in mine if cell["data"] == name):
            bins = np.mean([trial["bins"] for trial in cell["trials"]], axis=0)
            panel.plot(bins[:, 0], bins[:, 1], "o-", markersize=3, label=cell["noise"])
        panel.set_title(name, fontsize=9)
        panel.legend(fontsize=6, frameon=False)
        panel.grid(alpha=0.3)
    for panel in panels.ravel()[len(names) :]:
        panel.axis("off")
    figure.supxlabel("probability that the label is wrong")
    figure.supylabel("share that is")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
