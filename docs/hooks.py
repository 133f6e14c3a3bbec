"""What MkDocs adds to the site besides the pages of this folder.

======================  ===============================================================
page or file            made from
======================  ===============================================================
``index.md``            ``README.md``
``contributing.md``     ``CONTRIBUTING.md``, and so on for `COPIED`
``examples.md``         the scripts in ``examples/``
the list of commands    ``cgscore --help``, in ``reference/commands.md``
``results/paper/*.png`` the figures that ``reproduction.md`` shows
======================  ===============================================================
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
COPIED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
SHOWN = ("CITATION.cff", "results/paper/*.png")
_FOREIGN = re.compile(
    r'<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)="(?:https?:)?//[^"]*'
)
_LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)#\s]+)")

_FOLDER = re.compile(r"\[([^]]*)\]\([./]*results/[\w./]*?/?(?:desk|full|paper)/?\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages that are made from files outside of this folder."""
    for source, page in COPIED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_LINK.sub(_inside, text)))
    files.append(File.generated(config, "examples.md", content=_examples()))
    for pattern in SHOWN:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Fill in the commands, and lead links that leave this folder to their pages."""
    here = posixpath.dirname(page.file.src_uri)

    def to_page(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", here, match[2]))
        if target.startswith("docs/"):
            return match[0]
        return match[1] + posixpath.relpath(_page_of(target), here or ".")

    markdown = _FOLDER.sub(_without_link, markdown)
    markdown = _LINK.sub(to_page, markdown)
    return re.sub("<!-- commands -->", lambda _: _commands(), markdown)


def on_page_content(html: str, *, page: Any, config: Any, files: Any) -> str:
    """Leave out the two colons that stand before code in docstrings."""
    return html.replace("<p>::</p>\n", "")


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """Refuse a page that loads something from elsewhere."""
    if foreign := _FOREIGN.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from elsewhere: {foreign[0]}")
    return output


def _without_link(match: re.Match[str]) -> str:
    """The text of a link to a folder of the repository, which the site does not have."""
    return match[1]


def _inside(match: re.Match[str]) -> str:
    """A link of a file of the root, as seen from a page of this folder."""
    return match[1] + _page_of(posixpath.normpath(match[2]))


def _page_of(path: str) -> str:
    """The page that shows a file, named by its path from the root of the repository."""
    if path in COPIED:
        return COPIED[path]
    if path.split("/")[0] == "examples":
        return "examples.md"
    return path.removeprefix("docs/")


def _examples() -> str:
    parts = ["# Example scripts\n\nScripts of the folder `examples`. They run as tests.\n"]
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        title = (ast.get_docstring(ast.parse(text)) or path.stem).splitlines()[0]
        parts.append(f"## {path.stem}\n\n{title}\n\n```python\n{text}```\n")
    return "\n".join(parts)


def _commands() -> str:
    """Every command with its arguments and options, from the commands themselves."""
    import typer.main

    from cgscore.cli import app

    group: Any = typer.main.get_command(app)
    return "\n\n".join(_command(name, command) for name, command in group.commands.items())


def _command(name: str, command: Any) -> str:
    context = type(command).context_class(command, info_name=f"cgscore {name}")
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is None:
            continue
        option, text = (" ".join(part.replace("|", "\\|").split()) for part in record)
        rows.append(f"| `{option}` | {text.replace('<', '&lt;')} |")
    table = "\n".join(["| argument or option | meaning |", "|---|---|", *rows])
    return f"## cgscore {name}\n\n{command.help}\n\n    {' '.join(usage.split())}\n\n{table}"
