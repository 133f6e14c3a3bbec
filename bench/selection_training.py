"""What a small convolutional network learns from what each way keeps, with equal numbers of steps.

::

    nice python bench/selection_training.py -o results/selection_training.json   # hours; resumes
    python bench/selection_training.py --show results/selection_training.json

All of CIFAR-10 at 10, 30 and 50 %, with their own labels and with 20 % of them wrong, and
Fashion-MNIST at 10 %; ``random``, ``stratified``, ``greedy`` and ``auto``, three trainings each
with the network of the preset ``full``. Whatever is kept, the number of steps is that of some
epochs of all examples (``--epochs``, 3 by default; the preset trains for 8). Examples of CIFAR-10
are chosen by features of efficientnet-lite0 (``--inputs pixels``: by pixels), those of
Fashion-MNIST by pixels, and by scores from landmarks; the network always sees pixels. The wrong
labels are one draw, so that scores and rankings are made once; weights, batches, and what
``random`` and ``stratified`` keep are drawn anew for every training. ``--precision bfloat16`` is
faster where the processor has instructions for it.

Trainings run side by side, one on each core. One that is in the output is not repeated, and one
that was interrupted resumes from its checkpoint beside the output, where the choices are kept,
too. Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from iterative import DATA, SOURCES
from noise import noisy

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.execution.files import replace_file
from cgscore.execution.machine import lower_priority
from cgscore.training import Inputs, preset, train
from cgscore.training.loop.evaluation import evaluate
from cgscore.training.loop.settings import PRECISIONS
from cgscore_paper.background import KEEP_MEMORY
from cgscore_paper.provenance import script_origin

WAYS = ("random", "stratified", "greedy", "auto")
KINDS = {"clean": None, "20 % wrong": "20 % uniform"}
PLANS = {"CIFAR-10": (0.1, 0.3, 0.5), "Fashion-MNIST": (0.1,)}
SEEDS = (0, 1, 2)


class Place(NamedTuple):
    """What tells one training from the others."""

    data: str
    inputs: str
    labels: str
    epochs: int
    precision: str
    seed: int
    fraction: float
    way: str

    @property
    def stem(self) -> str:
        """A name for its files."""
        return "-".join(map(str, self)).replace(" ", "").replace("%", "")


@cache
def images(name: str) -> tuple[Any, Any, Any, Any]:
    """Images and labels for training, and for the test."""
    source = DATA / SOURCES[name]
    if name == "CIFAR-10":
        whole, other = cgscore.read(source), cgscore.read(DATA / "cifar10/test.parquet")
    else:
        whole, other = cgscore.read(source), cgscore.read(source, split="test")
    labels = [np.asarray(part.y).astype(int) for part in (whole, other)]
    return np.asarray(whole.X), labels[0], np.asarray(other.X), labels[1]


@cache
def inputs(name: str, kind: str) -> Any:
    """What the choice is made by: features or pixels, a row for each example."""
    if name == "CIFAR-10" and kind == "features":
        X = cgscore.read(DATA / SOURCES[name], encoder="efficientnet-lite0").X
    else:
        X = images(name)[0]
    return np.asarray(X, np.float64).reshape(len(X), -1)


def chosen(options: argparse.Namespace, folder: Path, done: set[Place]) -> Iterator[Place]:
    """Trainings that are left, each when its labels and positions stand in the folder."""
    for name in options.data:
        for labels in KINDS:
            seen = options.inputs if name == "CIFAR-10" else "pixels"
            how = (name, seen, labels, options.epochs, options.precision)
            places = [
                Place(*how, seed, fraction, way)
                for seed in options.seeds
                for fraction in PLANS[name]
                for way in WAYS
            ]
            left = {place: folder / f"{place.stem}.npz" for place in places if place not in done}
            if not all(file.exists() for file in left.values()):
                choose(left)
            yield from left


def choose(files: dict[Place, Path]) -> None:
    """Write labels and kept positions of trainings that have their labels in common."""
    first = next(iter(files))
    X, noise = inputs(first.data, first.inputs), KINDS[first.labels]
    given = images(first.data)[1]
    if noise is not None:
        given = noisy(X, given, noise, 0)
    scores = cgscore.score(X, given, method="lowrank", ridge="auto", progress=False)
    for way in WAYS:
        places = [place for place in files if place.way == way]
        ranked = way in ("greedy", "auto")
        if ranked and len({place.fraction for place in places}) > 1:
            scores.add_rank(drop_issues=way == "auto", progress=False)

        @cache
        def positions(fraction: float, seed: int, way: str = way) -> Any:
            return scores.keep(fraction, way, seed=seed, progress=False)

        for place in places:
            kept = positions(place.fraction, 0 if ranked else place.seed)
            replace_file(files[place], partial(np.savez, given=given, kept=kept))
        print(f"{first.data}, {first.labels}: {way} is chosen", flush=True)


def trained(place: Place, folder: Path) -> float:
    """Test accuracy of the network after training on what is kept."""
    import torch

    torch.set_num_threads(1)
    lower_priority()
    warnings.simplefilter("ignore", CGScoreWarning)
    X, _, X_test, y_test = images(place.data)
    files = np.load(folder / f"{place.stem}.npz")
    full = preset("full")
    run = train(
        full.build(10, channels=1 if X.ndim == 3 else 3, seed=place.seed),
        X,
        files["given"],
        settings=replace(full.settings, epochs=place.epochs, precision=place.precision),
        seed=place.seed,
        rows=files["kept"],
        records=False,
        checkpoint=folder / place.stem,
        progress=False,
    )
    found = evaluate(run.model, Inputs(X_test, scale=run.scale), y_test, torch.device("cpu"))
    shutil.rmtree(folder / place.stem, ignore_errors=True)
    return float(found.correct.mean())


def show(cells: list[Any]) -> None:
    """Mean test accuracy in per cent (sample standard deviation), and how far above random."""
    found: dict[tuple[str, str, float, str], list[float]] = {}
    for cell in cells:
        place = (cell["data"], cell["labels"], cell["fraction"], cell["way"])
        found.setdefault(place, []).append(100 * cell["accuracy"])
    for name, kind in dict.fromkeys(place[:2] for place in found):
        shares = sorted({place[2] for place in found if place[:2] == (name, kind)})
        rows = {way: [found.get((name, kind, at, way), []) for at in shares] for way in WAYS}
        above = {way: list(map(_above, rows[way], rows["random"])) for way in WAYS[1:]}
        head = [f"{share:.0%}" for share in shares]
        _print(f"{name}, {kind}", head, {way: list(map(_mean, row)) for way, row in rows.items()})
        _print(f"{name}, {kind}: above random (standard errors)", head, above)


def _print(title: str, head: list[str], rows: dict[str, list[str]]) -> None:
    print(f"\n| {title} | {' | '.join(head)} |\n" + "|---" * (len(head) + 1) + "|")
    for way, row in rows.items():
        print(f"| {way} | {' | '.join(row)} |")


def _mean(values: list[float]) -> str:
    spread = f" ({np.std(values, ddof=1):.1f})" if len(values) > 2 else ""
    return f"{np.mean(values):.1f}{spread}" if values else "-"


def _above(values: list[float], random: list[float]) -> str:
    if min(len(values), len(random)) < 3:
        return "-"
    apart = np.mean(values) - np.mean(random)
    error = np.sqrt(sum(np.var(each, ddof=1) / len(each) for each in (values, random)))
    return f"{apart:+.1f} ({apart / error:+.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--inputs", default="features", choices=("features", "pixels"))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--precision", default="float32", choices=PRECISIONS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if options.show:
        show(json.loads(options.show.read_text())["cells"])
        return
    if options.output is None:
        parser.error("-o is needed: trainings take hours and are kept there")
    for name, value in KEEP_MEMORY.items():
        os.environ.setdefault(name, value)
    cells = json.loads(options.output.read_text())["cells"] if options.output.exists() else []
    done = {Place(*(cell[name] for name in Place._fields)) for cell in cells}
    folder = options.output.with_suffix(".unfinished")
    folder.mkdir(parents=True, exist_ok=True)

    def keep(place: Place, future: Future[float]) -> None:
        cells.append(place._asdict() | {"accuracy": future.result()} | script_origin(__file__))
        text = json.dumps({"version": cgscore.__version__, "cells": cells}, indent=1) + "\n"
        replace_file(options.output, lambda opened: opened.write(text.encode()))
        print(*place, f"{cells[-1]['accuracy']:.4f}", flush=True)

    running = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for place in chosen(options, folder, done):
            running.append(pool.submit(trained, place, folder))
            running[-1].add_done_callback(partial(keep, place))
    for future in running:
        future.result()
    shutil.rmtree(folder, ignore_errors=True)
    show(cells)


if __name__ == "__main__":
    main()
