"""What a small convolutional network learns from what each way keeps, with equal numbers of steps.

::

    nice python bench/selection_training.py -o results/selection_training.json   # hours; resumes
    python bench/selection_training.py --show results/selection_training.json

All of CIFAR-10 at 10, 30 and 50 %, with their own labels and with 20 % of them wrong, and
Fashion-MNIST at 10 %; ``random``, ``stratified``, ``greedy`` and ``auto``, three trainings each
with the network and the settings of the preset ``full``. The number of steps is that of eight
epochs of all examples, whatever is kept. Examples of CIFAR-10 are chosen by features of
efficientnet-lite0 (``--inputs pixels``: by pixels), those of Fashion-MNIST by pixels; the network
always sees pixels.

A cell that is in the output is not trained again, and a training that was interrupted resumes from
the folder of checkpoints beside it. Data are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from iterative import DATA, SOURCES
from noise import noisy

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore.training import Inputs, preset, train
from cgscore.training.loop.evaluation import evaluate

WAYS = ("random", "stratified", "greedy", "auto")
KINDS = {"clean": None, "20 % wrong": "20 % uniform"}
PLANS = {"CIFAR-10": (0.1, 0.3, 0.5), "Fashion-MNIST": (0.1,)}
SEEDS = (0, 1, 2)


class Examples:
    """Images and labels of a dataset, and what each way keeps of them."""

    def __init__(self, name: str, inputs: str) -> None:
        source = DATA / SOURCES[name]
        test = DATA / "cifar10/test.parquet" if name == "CIFAR-10" else source
        whole = cgscore.read(source)
        other = cgscore.read(test, split="test" if name != "CIFAR-10" else None)
        self.images, self.labels = np.asarray(whole.X), np.asarray(whole.y).astype(int)
        self.test = np.asarray(other.X), np.asarray(other.y).astype(int)
        encoded = name == "CIFAR-10" and inputs == "features"
        self.X = cgscore.read(source, encoder="efficientnet-lite0").X if encoded else whole.X
        self.X = np.asarray(self.X, np.float64).reshape(len(self.images), -1)
        self._scores: dict[tuple[str, int], Any] = {}

    def given(self, kind: str, seed: int) -> Any:
        """The labels that are trained on."""
        noise = KINDS[kind]
        return self.labels if noise is None else noisy(self.X, self.labels, noise, seed)

    def kept(self, way: str, kind: str, fraction: float, seed: int) -> Any:
        """Positions that stay; scores and features serve all ways and shares of one labelling."""
        place = (kind, 0 if kind == "clean" else seed)
        if place not in self._scores:
            self._scores.clear()
            self._scores[place] = cgscore.score(self.X, self.given(kind, seed), progress=False)
        return self._scores[place].keep(fraction, way, seed=seed, progress=False)


def trained(data: Examples, kind: str, kept: Any, seed: int, folder: Path) -> float:
    """Test accuracy of the network after training on what is kept."""
    settings = preset("full")
    model = settings.build(10, channels=1 if data.images.ndim == 3 else 3, seed=seed)
    run = train(
        model,
        data.images,
        data.given(kind, seed),
        settings=settings.settings,
        seed=seed,
        rows=kept,
        records=False,
        checkpoint=folder,
        progress=False,
    )
    X_test, y_test = data.test
    import torch

    found = evaluate(run.model, Inputs(X_test, scale=run.scale), y_test, torch.device("cpu"))
    return float(found.correct.mean())


def show(cells: list[Any]) -> None:
    for name, kind in dict.fromkeys((cell["data"], cell["labels"]) for cell in cells):
        mine = [cell for cell in cells if (cell["data"], cell["labels"]) == (name, kind)]
        shares = sorted({cell["fraction"] for cell in mine})
        print(f"\n| {name}, {kind} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
        print("|---" * (len(shares) + 1) + "|")
        for way in WAYS:
            line = []
            for share in shares:
                values = [
                    100 * cell["accuracy"]
                    for cell in mine
                    if (cell["way"], cell["fraction"]) == (way, share)
                ]
                line.append(f"{np.mean(values):.1f} ({np.std(values):.1f})" if values else "-")
            print(f"| {way} | " + " | ".join(line) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--inputs", default="features", choices=("features", "pixels"))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if options.show:
        show(json.loads(options.show.read_text())["cells"])
        return
    if options.output is None:
        parser.error("-o is needed: trainings take hours and are kept there")
    cells = json.loads(options.output.read_text())["cells"] if options.output.exists() else []
    names = ("data", "inputs", "labels", "seed", "fraction", "way")
    done = {tuple(cell[name] for name in names) for cell in cells}
    for name in options.data:
        data = None
        for kind in KINDS:
            for seed in options.seeds:
                for fraction in PLANS[name]:
                    for way in WAYS:
                        place = (name, options.inputs, kind, seed, fraction, way)
                        if place in done:
                            continue
                        data = data or Examples(name, options.inputs)
                        kept = data.kept(way, kind, fraction, seed)
                        folder = options.output.with_suffix(".unfinished")
                        accuracy = trained(data, kind, kept, seed, folder)
                        shutil.rmtree(folder, ignore_errors=True)
                        cells.append(dict(zip(names, place, strict=True)) | {"accuracy": accuracy})
                        document = {"version": cgscore.__version__, "cells": cells}
                        options.output.write_text(json.dumps(document, indent=1) + "\n")
                        print(*place, f"{accuracy:.4f}", flush=True)
    show(cells)


if __name__ == "__main__":
    main()
