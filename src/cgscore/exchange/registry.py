"""The tools by name, and which of them wrote a file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from cgscore.errors import OptionError, SourceError
from cgscore.exchange.tool import Tool

#: Every tool, as ``--to`` takes it, and its module. A new one is a module and a line here.
MODULES = {
    "csv": "csv_file",
    "label-studio": "label_studio",
    "hugging-face": "hugging_face",
    "fiftyone": "fiftyone",
    "argilla": "argilla",
}


def find_tool(name: str, flag: str = "--to") -> Tool:
    """The tool of this name.

    Raises
    ------
    OptionError
        There is none.
    """
    if name not in MODULES:
        raise OptionError(f"{flag} must be one of {', '.join(MODULES)}; got {name!r}.")
    tool: Tool = import_module(f"cgscore.exchange.{MODULES[name]}").TOOL
    return tool


def tool_of(path: Path) -> Tool:
    """The tool that a file or folder came back from.

    Raises
    ------
    SourceError
        There is no such file, or no tool knows it.
    """
    if not path.exists():
        raise SourceError(f"{path} does not exist.")
    for name in MODULES:
        tool = find_tool(name)
        if tool.recognises(path):
            return tool
    raise SourceError(
        f"{path} is not recognised as the output of a known tool ({', '.join(MODULES)}). If it "
        "comes from one of them, name it: --from NAME"
    )
