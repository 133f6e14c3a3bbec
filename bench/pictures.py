"""Pictures of the report and of the review application for the documentation.

::

    python bench/pictures.py             # writes docs/images/

Both show the demo: scikit-learn's digits with a tenth of the labels flipped. Needs Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import cgscore
from cgscore.cli.flipped_digits import find_flipped_labels

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def data(folder: Path) -> None:
    """The demo's result, with data that `review` can read again."""
    done = find_flipped_labels()
    done.scores.report(folder / "report.html")
    dataset = done.scores.data()
    labels = done.scores.table["given_label"].to_numpy()
    for at, label in enumerate(labels.tolist()):
        place = folder / "digits" / str(label)
        place.mkdir(parents=True, exist_ok=True)
        dataset.picture(at).save(place / f"{at:04d}.png")
    os.chdir(folder)  # so that no path of this machine is in the picture
    cgscore.score("digits", ridge="auto").save("digits.parquet")


def report(page: Page, folder: Path) -> None:
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / "report.png")
    page.locator(".card .zoom").nth(1).click()
    page.wait_for_timeout(300)
    page.locator("#box").screenshot(path=IMAGES / "report-neighbours.png")
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('nav').hidden = true")  # it sticks to the top
    page.locator("#example-map").scroll_into_view_if_needed()
    page.locator("#map-canvas").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    page.locator("#example-map").screenshot(path=IMAGES / "report-map.png")
    page.locator("#spread").screenshot(path=IMAGES / "report-charts.png")


def review(page: Page, folder: Path) -> None:
    command = [sys.executable, "-m", "cgscore", "review", "digits.parquet", "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            page.goto((server.stdout.readline() if server.stdout else "").split()[-1])
            page.locator("#one .accept").wait_for()
            for _ in range(8):
                title = page.locator("#one-title").inner_text()
                page.keyboard.press("a")
                page.wait_for_function(
                    "old => document.getElementById('one-title').innerText !== old", arg=title
                )
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / "review.png")
            page.keyboard.press("g")
            cards = page.locator("#grid input")
            cards.nth(0).click()
            cards.nth(3).click(modifiers=["Shift"])
            page.wait_for_timeout(500)
            page.screenshot(path=IMAGES / "review-grid.png")
        finally:
            server.terminate()


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        data(folder)
        launched = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = launched.new_page(viewport={"width": 1180, "height": 860})
        report(page, folder)
        review(page, folder)
        launched.close()


if __name__ == "__main__":
    main()
