"""The report: what the document says, and what a real browser shows of it."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from sklearn.datasets import load_digits

import cgscore
from cgscore.errors import OptionError
from cgscore.report import write
from cgscore.result.scores import Scores
from cgscore.review import Decisions, Review
from tests.command import invoke

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "\"'`&<img src=x onerror='window.hacked = 1'>",
    "line one\nline two\r\n\ttab",
    "\u202eright to left\u202c \u200f",
    "long " * 2000,
    "</script></style><h1>",
]


@contextmanager
def opened(browser: Browser, path: Path, **options: Any) -> Iterator[Page]:
    """A page from disk that must not fail, and must not ask for anything."""
    context = browser.new_context(**options)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))  # warnings too
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    yield page
    context.close()
    assert [text for text in wrong if "getImageData" not in text] == []  # the tests' own reading
    beside = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert beside == [path.resolve().as_uri()]


def document(path: Path) -> Any:
    """What is embedded in a page."""
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    assert "<" not in found[1]
    return json.loads(found[1])


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page about digits of which some labels are wrong and two examples repeat."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    z = y.copy()
    wrong = rng.choice(len(y), 150, replace=False)
    z[wrong] = (y[wrong] + rng.integers(1, 10, 150)) % 10
    data = cgscore.read("sklearn:digits").with_labels(z)
    X = data.X.copy()
    X[7] = X[6]  # a copy with another label
    scores = cgscore.score(
        cgscore.data.Dataset(X, z, data.ids, pictures=data.pictures), ridge="auto"
    )
    path = tmp_path_factory.mktemp("report") / "digits.html"
    assert scores.report(path) == []
    return scores, path


def test_the_document(digits: Any) -> None:
    scores, path = digits
    found = document(path)
    issues = scores.label_issues()
    marked = int(issues["is_label_issue"].sum())
    assert f"{marked} are flagged, all shown below" in found["verdict"]
    assert [row["at"] for row in found["suspects"][:5]] == issues[
        issues["is_label_issue"]
    ].sort_values("label_score", kind="stable").index.tolist()[:5]
    first = found["suspects"][0]
    assert len(first["given"]) == len(first["suggested"]) == 3
    assert {str(row["at"]) for row in found["suspects"]} <= set(found["pictures"])
    assert sum(count for _, _, count in found["pairs"]) == marked
    codes, cg = scores.codes(), scores.table["cg"].to_numpy()
    for c, one in enumerate(found["classes"]):
        finite = cg[(codes == c) & np.isfinite(cg)]
        assert one["examples"] == (codes == c).sum()
        assert one["mean"] == pytest.approx(finite.mean(), rel=1e-5)  # six digits are kept
        assert one["deviation"] == pytest.approx(finite.std(), rel=1e-5)
    assert np.sum(found["histogram"]["counts"]) + found["histogram"]["left_out"] == len(scores)
    three = found["extremes"][3]
    assert three["hardest"][0] == np.flatnonzero(codes == 3)[np.argmax(cg[codes == 3])]
    removed = np.array(found["pruning"]["low-first"])
    half = found["pruning"]["fractions"].index(50)
    assert removed[:, half] @ np.bincount(codes) == pytest.approx(len(scores) / 2, abs=1)
    assert found["repeats"] | {"rows": []} == {"count": 1, "conflicts": 1, "rows": []}


def test_every_control(digits: Any, browser: Browser, tmp_path: Path) -> None:
    _, path = digits
    found = document(path)
    with opened(browser, path, permissions=["clipboard-read", "clipboard-write"]) as page:
        assert page.locator("#verdict").inner_text() == found["verdict"]
        assert page.locator(".card").count() == 60
        assert page.locator(".card img").first.evaluate("image => image.naturalWidth") == 8
        page.locator("#more").click()
        assert page.locator(".card").count() == 120
        page.locator("#sort").select_option("cg")
        shown = page.locator(".card >> text=/CG/").all_inner_texts()
        values = [float(text.split("CG ")[1]) for text in shown]
        assert values == sorted(values, reverse=True)
        page.locator("#sort").select_option("worst")
        card = page.locator(".card").first
        card.locator("summary").click()
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
        assert "With half of all removed" in page.locator("#pruning-caption").inner_text()
        page.locator("#pruning details summary").click()
        assert page.locator("#pruning-table tbody tr").count() == 10
        assert "1 of them with another label" in page.locator("#repeats-count").inner_text()


def ink(page: Page, chart: str) -> int:
    """Pixels of a chart that are neither empty nor grey."""
    return int(
        page.locator(f"{chart} canvas").evaluate(
            """canvas => {
              const {width, height} = canvas;
              const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
              let count = 0;
              for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 60 && Math.max(data[i], data[i + 1], data[i + 2])
                    - Math.min(data[i], data[i + 1], data[i + 2]) > 30) count++;
              return count;
            }"""
        )
    )


def test_charts_are_drawn(digits: Any, browser: Browser) -> None:
    _, path = digits
    with opened(browser, path) as page:
        for chart, least in (("#histogram", 5000), ("#class-plot", 500), ("#pruning-plot", 3000)):
            assert ink(page, chart) > least
        every = ink(page, "#scatter-plot")
        assert every > 3000
        page.locator("#scatter-class").select_option("0")
        page.wait_for_timeout(100)
        assert 0 < ink(page, "#scatter-plot") < every / 3
        page.locator("#scatter-class").select_option("")
        page.locator("#scatter-plot").scroll_into_view_if_needed()
        over = page.locator("#scatter-plot .u-over")
        box = over.bounding_box()
        assert box is not None
        for part in (0.7, 0.75, 0.8, 0.85):
            page.mouse.move(box["x"] + part * box["width"], box["y"] + 0.75 * box["height"])
        page.locator("#scatter-caption", has_text="partial").wait_for()
        assert re.match(
            r"\d+: \d, CG [\d.]+, partial -?[\d.]+", page.locator("#scatter-caption").inner_text()
        )
        page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.99 * box["width"], box["y"] + 0.5 * box["height"], steps=5)
        page.mouse.up()
        page.wait_for_timeout(200)
        zoomed = ink(page, "#scatter-plot")
        assert zoomed != every
        page.mouse.dblclick(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        page.wait_for_timeout(200)
        assert ink(page, "#scatter-plot") == pytest.approx(every, rel=0.02)


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
    frame["label"], frame["id"] = labels, names
    scores = cgscore.score(cgscore.read(frame), ridge="auto")
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
        assert "\\u202eright to left\\u202c \\u200f" in texts  # and nothing is turned round
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
        with page.expect_download() as download:
            page.locator("#export").click()
        with Path(download.value.path()).open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["id"].lstrip("'") for row in rows} <= set(names)


def test_other_scores_beside(digits: Any, browser: Browser, tmp_path: Path) -> None:
    scores, _ = digits
    rng = np.random.default_rng(0)
    table = scores.table[["id", "given_label", "cg"]].assign(
        like=scores.table["cg"] ** 2, noise=rng.random(len(scores)), words="x"
    )
    table.loc[3, "noise"] = np.nan
    path = tmp_path / "beside.html"
    scores.report(path, beside=table)
    told = document(path)["beside"]
    assert told["names"] == ["cg", "like", "noise"]
    usable = table[["cg", "like", "noise"]].rank().corr()
    assert np.allclose(told["correlation"], usable, atol=0.01)
    assert told["suspects"][1] == told["suspects"][0] > 0.5 > told["suspects"][2]
    with opened(browser, path) as page:
        assert page.locator("#beside tbody tr").count() == 3
        assert page.locator("#beside tbody td").first.inner_text() == "1.00"
    with opened(browser, digits[1]) as page:
        assert page.locator("#beside").is_hidden()
    for wrong, message in (
        (table.iloc[:-1], "must have 1,797 rows"),
        (table.iloc[::-1], "other ids"),
        (table[["id", "words"]], "no columns of numbers"),
    ):
        with pytest.raises(OptionError, match=message):
            scores.report(path, beside=wrong)


def test_texts_are_shown(browser: Browser, tmp_path: Path) -> None:
    """Suspects and their neighbours are there to be read, in the report and in the review."""
    subjects = {"weather": ["rain", "snow", "wind"], "music": ["drum", "choir", "flute"]}
    labels = ["weather", "music"] * 40
    texts = [
        f"Number {i}, on {' and '.join(np.random.default_rng(i).permutation(subjects[label]))}"
        for i, label in enumerate(labels)
    ]
    labels[0] = "music"
    texts[0] += f" {HOSTILE[0]} {'very ' * 200}long"
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
        },
        dataset=data,
    )
    path = tmp_path / "large.html"
    scores.report(path)
    assert path.stat().st_size < 5_000_000
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
    assert (tmp_path / "long.html").stat().st_size < 5_000_000
    assert document(tmp_path / "long.html")["pictures"]


def test_what_cannot_be_said_is_not_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = cgscore.score(rng.standard_normal((200, 20)), rng.integers(0, 4, 200), ridge="auto")
    scores.report(tmp_path / "random.html")
    found = document(tmp_path / "random.html")
    assert "no better than chance" in found["verdict"]
    assert found["suspects"] == []


def test_the_audit_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = cgscore.score(
        rng.standard_normal((300, 20)), rng.integers(0, 3, 300), method="iterative"
    )
    scores.meta["audit"] |= {"top_percent": 0.75, "top_percent_interval": [0.5, 1.0]}
    scores.report(tmp_path / "a.html")
    facts = dict(document(tmp_path / "a.html")["facts"])
    assert facts["audit"].startswith("rank correlation with the exact score ")
    assert facts["audit of the top 1 %"] == (
        "75.0% of the true top 1 % by cg are in the estimated top 1 % (95 %: 50.0% to 100.0%)"
    )
    del scores.meta["audit"]["top_percent"]  # as in older files
    scores.report(tmp_path / "b.html")
    assert "audit of the top 1 %" not in dict(document(tmp_path / "b.html")["facts"])


def test_a_thousand_classes_and_no_data(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(1000), 2)
    X = rng.standard_normal((2000, 30)) + 4 * rng.standard_normal((1000, 30))[y]
    scores = cgscore.score(X, y, ridge="auto")
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


def test_a_regression_has_a_page_too(browser: Browser, tmp_path: Path) -> None:
    X = load_digits().data
    scores = cgscore.score(X[:200], X[:200, 20], task="regression", ridge="auto")
    path = tmp_path / "regression.html"
    scores.report(path)
    with opened(browser, path) as page:
        assert "regression" in page.locator("#verdict").inner_text()
        assert ink(page, "#histogram") > 1000


def test_thumbnails_within_their_bytes(digits: Any, tmp_path: Path) -> None:
    scores, _ = digits
    notes = write(scores, tmp_path / "small.html", max_thumbnail_bytes=20_000)
    assert "thumbnails are left out" in notes[0]
    found = document(tmp_path / "small.html")
    assert 0 < sum(map(len, found["pictures"].values())) <= 20_000
    assert str(found["suspects"][0]["at"]) in found["pictures"]


def test_command_line(digits: Any, tmp_path: Path) -> None:
    scores, _ = digits
    scores.save(tmp_path / "s.parquet")

    done = invoke(
        "report", "s.parquet", "--worst", "5", folder=tmp_path
    )  # the data were arrays, so there are no pictures
    assert done.returncode == 0, done.stderr
    assert "note: Pictures and neighbours are left out" in done.stderr
    assert (tmp_path / "report.html").resolve().as_uri() in done.stdout
    assert len(document(tmp_path / "report.html")["suspects"]) == 5
    refused = invoke("report", "s.parquet", "-o", "report.txt", folder=tmp_path)
    assert refused.returncode == 2
    assert "ends in .html" in refused.stderr
