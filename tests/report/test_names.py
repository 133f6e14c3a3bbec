"""What screen readers are told: every control and picture has a role and a name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import Browser

import cgscore
from tests.report.pages import announced, opened, silent


def test_controls_pictures_and_charts(digits: Any, browser: Browser) -> None:
    _, path = digits
    with opened(browser, path) as page:
        page.locator("#about summary").click()
        page.locator(".card summary").first.click()
        page.locator(".card .strip img").first.wait_for()
        assert silent(page) == []
        controls = Counter(one for one in announced(page) if one[0] not in ("image", "option"))
        assert [one for one, count in controls.items() if count > 1] == []  # told apart by name
        names = [name for role, name in announced(page) if role == "image"]
        assert any(name.startswith("Mean CG of each class") for name in names)
        assert any("examples" in name for name in names)  # the histogram
        page.locator(".card .zoom").first.click()
        page.locator("#box .strip img").first.wait_for()
        assert silent(page) == []
        roles = {role for role, _ in announced(page)}
        assert {"dialog", "button", "image"} <= roles
        assert "combobox" not in roles  # what is behind the dialog is out of reach
        page.evaluate("document.querySelector('#box').append(document.createElement('button'))")
        assert silent(page) == [("button", "")]


def test_rows_of_tables(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    y = np.repeat(["left", "right"], 60)
    frame = pd.DataFrame({"place": (y == "left") * 4 + rng.standard_normal(120), "kind": y})
    frame["kind"] = np.where(rng.random(120) < 0.9, frame["kind"], "other")
    frame["label"] = y
    frame.loc[[3, 40, 90], "label"] = ["right", "right", "left"]
    frame.to_csv(tmp_path / "table.csv", index=False)
    cgscore.score(tmp_path / "table.csv", ridge="auto").report(tmp_path / "table.html")
    with opened(browser, tmp_path / "table.html") as page:
        assert page.locator("#gallery tbody tr, #suspects tbody tr").count() > 0
        assert silent(page) == []
