"""The description for package indexes: the README without what is of no use there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: Sections for readers of the repository.
SECTION = re.compile(r"^## (In a clone|More)\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
#: A picture of the repository, with the line after it, and a link to a file of it.
PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
#: What the tests of the documentation read.
COMMENT = re.compile(r"^<!--.*?-->\n\n", re.MULTILINE | re.DOTALL)


def description(readme: str) -> str:
    """The README without sections, pictures and links that need the repository, or comments."""
    for pattern in (SECTION, PICTURE, COMMENT):
        readme = pattern.sub("", readme)
    return LINK.sub(r"\1", readme)


class DescriptionHook(MetadataHookInterface):
    """Sets ``readme``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the description."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text)}
