"""The page: every control in a real browser, hostile names, and its size."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

import cgscore
from cgscore.report import write
from cgscore.result.scores import Scores
from cgscore.review import Decisions, Review
from tests.report.pages import HOSTILE, document, opened

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_every_control(digits: Any, browser: Browser, tmp_path: Path) -> None:
    _, path = digits
    found = document(path)
    with opened(browser, path, permissions=["clipboard-read", "clipboard-write"]) as page:
        assert page.locator("#verdict").inner_text() == found["verdict"]
        assert page.locator(".card").count() == 60
        page.wait_for_function("() => document.querySelector('.card img').naturalWidth === 8")
        page.locator("#more").click()
        assert page.locator(".card").count() == 120
        page.locator("#sort").select_option("cg")
        shown = page.locator(".card >> text=/CG/").all_inner_texts()
        values = [float(text.split("CG ")[1]) for text in shown]
        assert values == sorted(values, reverse=True)
        page.locator("#sort").select_option("worst")
        card = page.locator(".card").first
        card.locator("summary").click()
        card.locator(".strip img").last.wait_for()
        assert card.locator(".strip img").count() == 6
        page.locator("#copy").click()
        page.locator("#count", has_text="ids copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()").split("\n")
        assert copied == [row["id"] for row in found["suspects"]]
        start, end, count = found["pairs"][0]
        page.locator("#pair").select_option(f"{start}-{end}")
        assert page.locator(".card").count() == count
        with page.expect_download() as download:
            page.locator("#export").click()
        rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
        assert {(row["given_label"], row["predicted_label"]) for row in rows} == {
            (str(start), str(end))
        }
        assert len(rows) == count
        start, end, count = found["pairs"][1]
        label = f"{count} labelled {start}, suggested {end}"
        page.locator(f"#map-table button[aria-label='{label}']").click()
        assert page.locator("#pair").input_value() == f"{start}-{end}"
        assert page.locator(".card").count() == count
        assert page.locator("#extreme-rows h3").count() == 10
        page.locator("#extreme-class").select_option("4")
        assert page.locator("#extreme-rows img").count() == 16
        page.locator("#histogram-class").select_option("4")
        members = found["classes"][4]["examples"]
        caption = page.locator("#histogram-caption").inner_text()
        assert caption.startswith(f"4: {members} examples")
        page.get_by_role("button", name="examples").click()
        sorted_by = page.locator("#class-table th[aria-sort=descending]").inner_text()
        assert sorted_by.startswith("examples")
        sizes = [
            int(text)
            for text in page.locator("#class-table tbody td:nth-child(2)").all_inner_texts()
        ]
        assert sizes == sorted(sizes, reverse=True)
        page.locator("#pruning-order").select_option("high-first")
        assert "With half of all examples removed" in page.locator("#pruning-caption").inner_text()
        page.locator("#pruning details summary").click()
        assert page.locator("#pruning-table tbody tr").count() == 10
        assert "1 of them with another label" in page.locator("#repeats-count").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_on_a_phone(digits: Any, browser: Browser, scheme: Any) -> None:
    _, path = digits
    phone = {"width": 390, "height": 844}
    with opened(browser, path, viewport=phone, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.locator(".card summary").first.click()
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_hostile_names(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(6), 30)
    X = rng.standard_normal((180, 12)) + 3 * np.eye(6, 12)[y]
    z = y.copy()
    z[::10] = (z[::10] + 1) % 6
    labels = np.array(HOSTILE, dtype=object)[z]
    names = [f"{HOSTILE[i % 6]}{i}" for i in range(180)]
    frame = pd.DataFrame(X, columns=[f"{HOSTILE[i % 6]}{i}" for i in range(12)])
    frame["label"], frame["id"], frame["who"] = labels, names, [HOSTILE[i % 6] for i in range(180)]
    scores = cgscore.score(cgscore.read(frame, source_column="who"), ridge="auto")
    path = tmp_path / "hostile.html"
    scores.report(path)
    with opened(browser, path, viewport={"width": 800, "height": 800}) as page:
        assert page.evaluate("window.hacked") is None
        assert page.locator("main h1").count() == 0
        shown = page.locator("#gallery tbody tr").first
        assert shown.locator("td").count() == 12
        texts = set(page.locator("#class-table tbody th").all_inner_texts())
        assert HOSTILE[0] in texts
        assert HOSTILE[5] in texts
        assert any(text.endswith("(10,000 characters)") for text in texts)
        sources = page.locator("#source-table tbody th").all_inner_texts()
        assert len(sources) == 6
        assert {HOSTILE[0], HOSTILE[5]} <= set(sources)
        assert "\\u202eright to left\\u202c \\u200f" in texts  # and nothing is turned round
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
        with page.expect_download() as download:
            page.locator("#export").click()
        with Path(download.value.path()).open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["id"].lstrip("'") for row in rows} <= set(names)


def test_texts_are_shown(browser: Browser, tmp_path: Path) -> None:
    """Suspects and their neighbours are there to be read, in the report and in the review."""
    subjects = {"weather": ["rain", "snow", "wind"], "music": ["drum", "choir", "flute"]}
    labels = ["weather", "music"] * 40
    texts = [
        f"Number {i}, on {' and '.join(np.random.default_rng(i).permutation(subjects[label]))}"
        for i, label in enumerate(labels)
    ]
    labels[0] = "music"
    texts[0] = f"Number 0, on snow and snow, rain and snow {HOSTILE[0]} {'very ' * 200}long"
    frame = pd.DataFrame({"text": texts, "price": range(80), "label": labels})
    scores = cgscore.score(cgscore.read(frame, encoder="tfidf"), ridge="auto")
    path = tmp_path / "texts.html"
    assert scores.report(path) == []
    with opened(browser, path, viewport={"width": 800, "height": 800}) as page:
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
        row = page.locator("#gallery tbody tr").filter(has_text="Number 0, ")
        assert row.locator(".quote").first.inner_text().startswith("Number 0, on ")
        row.locator("summary").click()
        row.locator(".strip .quote").first.wait_for()
        near = row.locator(".strip .quote").all_inner_texts()
        assert len(near) > 4
        assert set(near) <= set(texts)
    review = Review(scores, scores.data(), Decisions(tmp_path / "d", scores.meta["fingerprint"]))
    shown = review.example(0)
    assert shown["columns"] == ["text", "price"]
    assert shown["cells"] == [texts[0], "0"]  # all of it
    assert shown["suggested"][0]["cells"][0] in texts


def test_sixty_thousand_examples(browser: Browser, tmp_path: Path) -> None:
    n, k = 60_000, 10
    rng = np.random.default_rng(2)
    codes = rng.integers(0, k, n)
    X = rng.integers(0, 256, (n, 8, 8)).astype(np.uint8)
    cg = np.exp(rng.standard_normal(n))
    loo = 2.0 * np.eye(k)[np.where(rng.random(n) < 0.01, (codes + 1) % k, codes)] - 1
    loo += 0.3 * rng.standard_normal((n, k))
    data = cgscore.data.Dataset(X, codes, np.arange(n), image=True)
    columns = {"id": np.arange(n), "given_label": codes, "cg": cg, "partial": np.log(cg)}
    scores = Scores(
        table=pd.DataFrame(columns | {"margin": loo.max(axis=1), "predicted_label": codes}),
        loo=loo,
        d=cg,
        alpha=cg,
        classes=np.arange(k),
        complexity=dict.fromkeys(range(k), 1.0),
        meta={
            "source": "made up",
            "method": "exact",
            "ridge": 0.1,
            "p": 64,
            "fingerprint": data.fingerprint,
            "class_names": None,
            "task": "classification",
        },
        dataset=data,
    )
    path = tmp_path / "large.html"
    scores.report(path)
    assert path.stat().st_size < 3_000_000
    with opened(browser, path) as page:
        assert page.locator("#verdict", has_text="of 60,000 labels look wrong").count() == 1
        assert "60,000 of 60,000 examples" in page.locator("#scatter-caption").inner_text()
        assert page.locator(".card img").count() == 60
        page.select_option("#scatter-class", "1")
        page.wait_for_function(
            "() => /of 60,000/.test(document.getElementById('scatter-caption').textContent)"
        )


def test_no_page_is_larger_than_it_should_be(digits: Any, tmp_path: Path) -> None:
    scores, _ = digits
    names = np.array([f"{i}" + "猫" * 10_000 for i in range(len(scores))], dtype=object)
    data = dataclasses.replace(scores.data(), ids=names)
    renamed = Scores(
        table=scores.table.drop(columns="duplicate_of").assign(id=names),
        loo=scores.loo,
        d=scores.d,
        alpha=scores.alpha,
        classes=scores.classes,
        complexity=scores.complexity,
        meta=scores.meta | {"fingerprint": data.fingerprint},
        dataset=data,
    )
    renamed.report(tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size < 3_000_000
    assert document(tmp_path / "long.html")["pictures"]


def test_a_thousand_classes_and_no_data(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(1000), 2)
    X = rng.standard_normal((2000, 30)) + 4 * rng.standard_normal((1000, 30))[y]
    scores = cgscore.score(X, y, ridge="auto", task="classification")
    scores.save(tmp_path / "s.parquet")
    path = tmp_path / "many.html"
    notes = cgscore.load(tmp_path / "s.parquet").report(path)
    assert len(notes) == 1
    assert "Pictures and neighbours are left out" in notes[0]
    with opened(browser, path) as page:
        assert page.locator("#notes .note").count() == 1
        assert page.locator("#class-table tbody tr").count() == 1000
        page.get_by_role("button", name="complexity").click()
        assert (
            page.locator("#class-table th[aria-sort=descending]", has_text="complexity").count()
            == 1
        )


def test_thumbnails_within_their_bytes(digits: Any, tmp_path: Path) -> None:
    scores, _ = digits
    notes = write(scores, tmp_path / "small.html", max_thumbnail_bytes=20_000)
    assert "thumbnails are left out" in notes[0]
    found = document(tmp_path / "small.html")
    assert 0 < sum(map(len, found["pictures"].values())) <= 20_000
    assert str(found["suspects"][0]["at"]) in found["pictures"]
