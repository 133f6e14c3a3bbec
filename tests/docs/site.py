"""Checks that no page of the built site loads anything from elsewhere.

``python -m tests.docs.site [FOLDER]``, by default ``build/site``. Links that a reader follows may
lead anywhere; scripts, styles, fonts, pictures and frames may not.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

from tests.docs.pages import ROOT

#: Attributes whose address a browser asks for by itself.
LOADED = {
    **dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src"),
    "link": "href",
    "object": "data",
}
_ELSEWHERE = re.compile(r"\s*(https?:)?//", re.I)
_IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", re.I)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and values.get("rel") in ("canonical", "next", "prev", "alternate"):
            return
        address = values.get(LOADED.get(tag, "")) or ""
        if _ELSEWHERE.match(address):
            self.addresses.append(address)
        self.addresses += _IN_STYLES.findall(values.get("style") or "")


def loaded_from_elsewhere(text: str) -> list[str]:
    """Addresses outside of the site that a page or a stylesheet loads."""
    page = _Page()
    page.feed(text)
    return page.addresses + _IN_STYLES.findall(text)


def main() -> int:
    """Look at every page and stylesheet; 1 if something is loaded from elsewhere."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    files = [file for kind in ("*.html", "*.css") for file in sorted(folder.rglob(kind))]
    if not files:
        print(f"There is no page in {folder}. Build the site first: make docs")
        return 1
    wrong = [
        f"{file.relative_to(folder)} loads {address}"
        for file in files
        for address in loaded_from_elsewhere(file.read_text(encoding="utf-8"))
    ]
    print("\n".join(wrong) or f"Site:     {len(files)} files, nothing is loaded from elsewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
