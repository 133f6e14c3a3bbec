"""Pages of a report: what is embedded in them, and what a browser shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
    assert {url.split("#")[0] for url in beside} == {path.resolve().as_uri()}


#: Roles that a screen reader reads as nothing but "button" or "graphic" where there is no name.
NAMED_ROLES = {
    *("application", "Canvas", "button", "checkbox", "combobox", "dialog", "image", "img", "link"),
    *("listbox", "menuitem", "meter", "navigation", "option", "progressbar", "radio", "region"),
    *("searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "DisclosureTriangle"),
}


def announced(page: Page) -> list[tuple[str, str]]:
    """Role and name of all that can be focused or must have a name, as Chromium tells readers."""
    session = page.context.new_cdp_session(page)
    found = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value", "")
        focusable = any(
            one["name"] == "focusable" and one["value"]["value"]
            for one in node.get("properties", [])
        )
        if not node["ignored"] and (focusable or role in NAMED_ROLES):
            found.append((role, node.get("name", {}).get("value", "").strip()))
    session.detach()
    return found


def silent(page: Page) -> list[tuple[str, str]]:
    """What of it a reader could not tell: without a name, or of no role."""
    return [one for one in announced(page) if not one[1] or one[0] in ("generic", "none")]


def document(path: Path) -> Any:
    """What is embedded in a page."""
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    assert "<" not in found[1]
    return json.loads(found[1])


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
