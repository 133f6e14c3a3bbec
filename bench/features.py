"""What features are worth: wrong labels in pixels and in features, in texts and in tables; speed.

::

    python bench/features.py -o results/features.json                 # all parts
    python bench/features.py --part cifar --seeds 0 1 -o FILE         # for fixing constants
    python bench/features.py --show results/features.json             # the tables again
    python bench/features.py --show results/features.json --markdown

cifar    10,000 training images of CIFAR-10, as pixels and by efficientnet-lite0
text     paragraphs of scikit-learn's own documentation (docstrings), by subpackage, by words
         (tfidf) and by minilm
tables   iris, wine and breast cancer, which ship with scikit-learn, written as CSV and read again
speed    images a second through `cgscore.read`, and through a bare torch loop of the same network

Every method gets the same inputs and labels, as in `label_noise.py`, whose methods these are. Data
are found in CGSCORE_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import pkgutil
import re
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from iterative import DATA
from label_noise import measured, ours, peers
from label_tables import markdown, show

import cgscore
from cgscore.errors import CGScoreWarning
from cgscore_paper.background_process import require_quiet
from cgscore_paper.provenance import script_origin

SIZE = 10_000
NOISES = ("20 % uniform", "30 % to one other class")
TABLES = ("iris", "wine", "breast_cancer")
SUBJECTS = (
    "cluster",
    "datasets",
    "decomposition",
    "ensemble",
    "linear_model",
    "metrics",
    "model_selection",
    "preprocessing",
)
PARTS = ("cifar", "text", "tables", "speed")


def cifar(n: int = SIZE) -> Any:
    """Images of CIFAR-10 at random."""
    whole = cgscore.read(DATA / "cifar10" / "train.parquet")
    some = np.sort(np.random.default_rng(0).choice(len(whole), n, replace=False))
    assert whole.y is not None
    return replace(whole, X=whole.X[some], y=whole.y[some], ids=whole.ids[some], pictures=None)


def paragraphs(subject: str) -> list[str]:
    """Paragraphs of English in the docstrings of a subpackage of scikit-learn."""
    package = importlib.import_module(f"sklearn.{subject}")
    found = set()
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".tests" in info.name:
            continue
        for thing in vars(importlib.import_module(info.name)).values():
            if not getattr(thing, "__module__", "").startswith(package.__name__):
                continue
            inside = vars(thing).values() if inspect.isclass(thing) else ()
            for one in (thing, *inside):
                text = inspect.cleandoc(one.__doc__ or "") if callable(one) else ""
                found |= {" ".join(part.split()) for part in re.split(r"\n\s*\n", text)}
    return sorted(
        text
        for text in found
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 15 and ">>>" not in text and "---" not in text
    )


def texts() -> Any:
    """Paragraphs and the subpackage they are from; those of two subpackages are left out."""
    rows = [(text, subject) for subject in SUBJECTS for text in paragraphs(subject)]
    table = pd.DataFrame(rows, columns=["text", "label"])
    return table[~table["text"].duplicated(keep=False)].reset_index(drop=True)


def inputs(part: str) -> dict[str, tuple[Any, Any]]:
    """Inputs and true labels (0 to k - 1) of every data set of a part."""
    if part == "cifar":
        images = cifar()
        y = images.y.astype(int)
        features = cgscore.read(images, encoder="efficientnet-lite0").X
        return {
            "CIFAR-10, pixels": (images.X.reshape(len(y), -1).astype(np.float64), y),
            "CIFAR-10, efficientnet-lite0": (features.astype(np.float64), y),
        }
    if part == "text":
        table = texts()
        y = table["label"].factorize()[0]
        return {
            f"texts, {name}": (cgscore.read(table, encoder=name).X.astype(np.float64), y)
            for name in ("tfidf", "minilm")
        }
    found = {}
    for name in TABLES:
        module = importlib.import_module("sklearn.datasets")
        frame = getattr(module, f"load_{name}")(as_frame=True).frame
        with tempfile.TemporaryDirectory() as folder:
            frame.to_csv(Path(folder) / "table.csv", index=False)
            data = cgscore.read(Path(folder) / "table.csv", label_column="target")
        found[f"{name} (table)"] = (data.X, np.asarray(data.y).astype(int))
    return found


def speed(n: int = 2048, repeats: int = 3) -> dict[str, Any]:
    """Images a second, ours and a bare loop in turn; medians."""
    import torch
    from torch.nn.functional import interpolate

    from cgscore.data.encoders.vision import EfficientNetLite0

    images = cifar(n)
    encoder = EfficientNetLite0()
    model = encoder._model
    batch = encoder.batch

    def prepared(pixels: Any) -> Any:
        channels = torch.from_numpy(pixels).permute(0, 3, 1, 2).float()
        larger = interpolate(channels, (128, 128), mode="bicubic").clamp(0, 255)
        return (larger - 127) / 128

    ready = [prepared(images.X[i : i + batch]) for i in range(0, n, batch)]

    def bare(with_preparing: bool) -> float:
        plain = model.to(memory_format=torch.contiguous_format)
        start = time.perf_counter()
        with torch.inference_mode():
            for number, given in enumerate(ready):
                if with_preparing:
                    given = prepared(images.X[number * batch : (number + 1) * batch])
                plain.extract_features(given).mean(dim=(2, 3)).numpy()
        return n / (time.perf_counter() - start)

    def through_read() -> float:
        other = replace(images, X=images.X ^ np.uint8(np.random.default_rng().integers(1, 255)))
        start = time.perf_counter()
        cgscore.read(other, encoder="efficientnet-lite0")
        return n / (time.perf_counter() - start)

    bare(False)  # the first run of anything is slow
    rates: dict[str, list[float]] = {"network alone": [], "with preparing": [], "cgscore.read": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CGSCORE_CACHE"] = folder
        for _ in range(repeats):
            rates["network alone"].append(bare(False))
            rates["cgscore.read"].append(through_read())
            rates["with preparing"].append(bare(True))
    found: dict[str, Any] = {name: float(np.median(values)) for name, values in rates.items()}
    return found | {"images": n, "threads": torch.get_num_threads()}


def show_speed(found: dict[str, Any]) -> None:
    rate = found["cgscore.read"]
    print(f"\nefficientnet-lite0, {found['images']:,} images, {found['threads']} threads:")
    print(f"  cgscore.read            {rate:7.1f} images a second, loading the weights included")
    for name in ("network alone", "with preparing"):
        print(f"  torch, {name:<16} {found[name]:7.1f} ({rate / found[name]:.2f} times as many)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--part", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[5, 6, 7, 8, 9])
    parser.add_argument("--table-seeds", type=int, default=20, help="from the first seed on")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--show", type=Path, help="print what a file holds and stop")
    parser.add_argument("--markdown", action="store_true", help="with --show: as a short table")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", CGScoreWarning)
    if asked.show:
        document = json.loads(asked.show.read_text())
        (markdown if asked.markdown else show)(document["cells"])
        if document["speed"]:
            show_speed(document["speed"])
        return
    document = {"cells": [], "speed": None}
    if asked.output and asked.output.exists():
        document = json.loads(asked.output.read_text())
    document |= {"version": cgscore.__version__, **script_origin(__file__)}
    for part in asked.part:
        if part == "speed":
            document["speed"] = speed()
            show_speed(document["speed"])
        else:
            seeds = asked.seeds
            if part == "tables":
                seeds = list(range(seeds[0], seeds[0] + asked.table_seeds))
            kinds = ("10 % uniform",) if part == "tables" else NOISES
            for name, (X, y) in inputs(part).items():
                found = measured(name, X, y, kinds, seeds, ours)
                if not asked.without_peers:
                    found += measured(name, X, y, kinds, seeds, peers)
                show(found)
                kept = [cell for cell in document["cells"] if cell["data"] != name]
                document["cells"] = [*kept, *found]
        if asked.output:  # after every part: each takes long
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            asked.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    require_quiet()
    main()
