"""The report inside a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import cgscore
from tests.report.pages import document

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_a_notebook_shows_the_page(digits: Any, browser: Browser, tmp_path: Path) -> None:
    scores, _ = digits
    shown = scores.report(worst=20)
    assert shown.notes == []
    shown.save(tmp_path / "saved.html")
    assert len(document(tmp_path / "saved.html")["suspects"]) == 20
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><html><body>{shown._repr_html_()}</body></html>")
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for()
    frame.locator("#search").fill("1")
    frame.locator("#sort").select_option("cg")
    frame.locator(".card .zoom").first.click()
    frame.locator("#box-title").wait_for()
    assert errors == []
    page.close()


def test_the_short_display_has_pictures(digits: Any) -> None:
    scores, _ = digits
    html = scores._repr_html_()
    assert html.count("data:image/png") == 8
    assert html.count("<rect") == 40


def test_no_folder_in_a_report_without_its_data(digits: Any, tmp_path: Path) -> None:
    scores, _ = digits
    scores.save(tmp_path / "s.parquet")
    loaded = cgscore.load(tmp_path / "s.parquet")
    loaded.meta["source"] = "/home/somebody/secret/photos"
    notes = loaded.report(tmp_path / "r.html")
    assert "/home/somebody/secret/photos" in notes[0]  # to whoever made the report
    assert "/home/somebody" not in (tmp_path / "r.html").read_text()
