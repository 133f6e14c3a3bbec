"""Size and first paint of reports: photographs of megapixels, and 60,000 small images.

::

    python bench/pages.py photographs      # into results/pages.json
    python bench/pages.py Fashion-MNIST    # found in CGSCORE_DATA, by default ../shared/data
    python bench/pages.py --show

Photographs: random pieces of the two photographs of scikit-learn in six classes, three parts of
each. A piece is 300 to 420 pixels wide, so that its picture of 256 pixels in the page has the
detail of a photograph. It is mirrored or not, lit differently, enlarged to 1 to 3 megapixels with
the noise of a sensor, and saved as JPEG. Three in ten are in the folder of another class.

Everything runs through the command line: ``cgscore score`` and ``cgscore report``. The page is
opened in Chromium; first paint is the browser's own ``first-contentful-paint``, the median of
several windows. Other work on the machine makes it later, so ``load``, the mean number of
processes that ran or waited in the last minute, is beside it. ``requests`` are those for anything
but the page itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance
from playwright.sync_api import Browser, sync_playwright
from sklearn.datasets import load_sample_images

import cgscore
from cgscore_paper.provenance import script_origin

RESULTS = Path(__file__).parents[1] / "results" / "pages.json"
DATA = Path(os.environ.get("CGSCORE_DATA", "../shared/data"))
NAMES = ("photographs", "Fashion-MNIST")
PARTS = ("left", "middle", "right")
PHOTOGRAPHS = 900
WRONG_SHARE = 0.3
SENSOR_NOISE = 6.0  # standard deviation, of 255
WINDOWS = 5  # whose median is the first paint


def photographs(folder: Path) -> dict[str, Any]:
    """Write the photographs into class folders, and return what they are."""
    rng = np.random.default_rng(0)
    subjects = [Image.fromarray(pixels) for pixels in load_sample_images().images]
    classes = [f"{subject} {part}" for subject in ("temple", "flower") for part in PARTS]
    for name in classes:
        (folder / name).mkdir(parents=True)
    given = np.arange(PHOTOGRAPHS) % len(classes)
    wrong = rng.choice(PHOTOGRAPHS, int(WRONG_SHARE * PHOTOGRAPHS), replace=False)
    true = given.copy()
    given[wrong] = (true[wrong] + rng.integers(1, len(classes), len(wrong))) % len(classes)
    pixels = file_bytes = 0
    for i in range(PHOTOGRAPHS):
        subject, part = divmod(int(true[i]), len(PARTS))
        photograph = _photograph(subjects[subject], part, rng)
        path = folder / classes[given[i]] / f"{i:04}.jpg"
        photograph.save(path, quality=90)
        pixels += photograph.width * photograph.height
        file_bytes += path.stat().st_size
    return {
        "images": PHOTOGRAPHS,
        "classes": len(classes),
        "wrong_labels": len(wrong),
        "mean_megapixels": pixels / PHOTOGRAPHS / 1e6,
        "mean_file_bytes": file_bytes // PHOTOGRAPHS,
    }


def _photograph(whole: Image.Image, part: int, rng: np.random.Generator) -> Image.Image:
    width, height = int(rng.integers(300, 421)), int(rng.integers(240, 321))
    room = whole.width - width
    left = int(np.clip(room * part / 2 + rng.integers(-20, 21), 0, room))
    top = int(rng.integers(whole.height - height + 1))
    piece = whole.crop((left, top, left + width, top + height))
    if rng.random() < 0.5:
        piece = piece.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    piece = ImageEnhance.Brightness(piece).enhance(float(rng.uniform(0.7, 1.3)))
    factor = float(np.sqrt(rng.uniform(1e6, 3e6) / (width * height)))
    large = piece.resize((round(width * factor), round(height * factor)), Image.Resampling.BICUBIC)
    noise = rng.standard_normal((large.height, large.width, 3), np.float32) * SENSOR_NOISE
    return Image.fromarray(np.clip(np.asarray(large) + noise, 0, 255).astype(np.uint8))


def small_images(folder: Path) -> dict[str, Any]:
    """Write the training images of Fashion-MNIST with wrong labels, and return what they are."""
    data = cgscore.read(str(DATA / "fashion-mnist"), split="train")
    assert data.y is not None
    rng = np.random.default_rng(0)
    true = np.asarray(data.y).astype(int)
    wrong = rng.random(len(true)) < 0.05
    given = np.where(wrong, (true + rng.integers(1, 10, len(true))) % 10, true)
    np.savez(folder / "images.npz", X=data.X, y=given)
    return {"images": len(true), "classes": 10, "wrong_labels": int(wrong.sum())}


def command(folder: Path, *arguments: str) -> tuple[float, str]:
    """Run ``cgscore`` with arguments; its seconds, and what was run."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cgscore", *arguments], cwd=folder, check=True)
    return time.perf_counter() - start, " ".join(["cgscore", *arguments])


def opened(browser: Browser, page: Path) -> dict[str, Any]:
    """First paint of a new window, and what it asked for and shows."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    window = context.new_page()
    asked: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    window.goto(page.as_uri())
    window.wait_for_selector("html[data-ready=yes]")
    paint = window.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    sides = window.evaluate(
        """async () => {
          const found = JSON.parse(document.getElementById("data").textContent);
          const shown = found.suspects.map(row => found.pictures[row.at]).filter(Boolean);
          const side = async address => {
            const image = new Image();
            image.src = address;
            await image.decode();
            return Math.max(image.naturalWidth, image.naturalHeight);
          };
          return {suspects: found.suspects.length, pictures: Object.keys(found.pictures).length,
                  sides: await Promise.all(shown.map(side))};
        }"""
    )
    context.close()
    elsewhere = [url for url in asked if not url.startswith(("data:", "blob:"))]
    return {
        "paint": paint,
        "requests": len(set(elsewhere) - {page.as_uri()}),
        "suspects": sides["suspects"],
        "suspects_with_picture": len(sides["sides"]),
        "smallest_picture_of_a_suspect": min(sides["sides"]),
        "pictures": sides["pictures"],
    }


def measure(name: str) -> dict[str, Any]:
    """Make the data, score and report them, and open the page."""
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = Path(made)
        os.environ["CGSCORE_CACHE"] = str(folder / "cache")
        large = name == "photographs"
        found = photographs(folder / "photos") if large else small_images(folder)
        source = ("photos",) if large else ("images.npz", "--method", "lowrank", "--ridge", "auto")
        scored = command(folder, "score", *source, "-o", "scores.parquet")
        reported = command(folder, "report", "scores.parquet", "-o", "report.html")
        page = folder / "report.html"
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        windows = [opened(browser, page) for _ in range(WINDOWS)]
        browser.close()
        paints = [window.pop("paint") for window in windows]
        return {
            **script_origin(__file__),
            **found,
            "commands": [scored[1], reported[1]],
            "score_seconds": scored[0],
            "report_seconds": reported[0],
            "page_bytes": page.stat().st_size,
            **max(windows, key=lambda window: window["requests"]),
            "first_paint_milliseconds": statistics.median(paints),
            "slowest_paint_milliseconds": max(paints),
            "load": os.getloadavg()[0],
        }


def show(document: dict[str, Any]) -> None:
    """Print a line for each page."""
    print(f"{'page':<15}{'images':>8}{'MB':>7}{'suspects':>10}{'with picture':>14}", end="")
    print(f"{'first paint':>13}{'requests':>10}")
    for name in document:
        found = document[name]
        print(
            f"{name:<15}{found['images']:>8,}{found['page_bytes'] / 1e6:>7.2f}"
            f"{found['suspects']:>10}{found['suspects_with_picture']:>14}"
            f"{found['first_paint_milliseconds']:>10.0f} ms{found['requests']:>10}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="PAGE")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    document = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not options.show:
        for name in options.names or NAMES:
            document[name] = measure(name)
            RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    show(document)


if __name__ == "__main__":
    main()
