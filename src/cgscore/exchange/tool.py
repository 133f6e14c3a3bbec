"""What a tool states about itself; `registry.TOOLS` has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgscore.exchange.captions import Captions
from cgscore.exchange.examples import Examples
from cgscore.execution.progress import Advance

if TYPE_CHECKING:
    from cgscore.result.scores import Scores

#: Names of what comes back with every example, in all tools.
POSITION, ID, STAMP = "cgscore_position", "cgscore_id", "cgscore_stamp"


@dataclass(frozen=True)
class ExportOptions:
    """How an export is written.

    Attributes
    ----------
    image_root : Path or None
        Paths of images are relative to this folder; by default to that of the source.
    absolute : bool
        Write absolute paths of images.
    copy : bool
        Copy images into the exported folder.
    guard : bool
        For CSV: mark texts that a spreadsheet would take for formulas.
    """

    image_root: Path | None = None
    absolute: bool = False
    copy: bool = False
    guard: bool = True


@dataclass(frozen=True)
class Correction:
    """A label that was chosen in a tool, as its file has it; nothing of it is checked.

    Attributes
    ----------
    where : str
        Where in the file it is, for messages.
    stamp : Any
        The stamp of the export it belongs to.
    position, id : Any
        Of the example; None where the file has no such value.
    label : Any
        The text of a class, or a number.
    """

    where: str
    stamp: Any
    position: Any
    id: Any
    label: Any


@dataclass(frozen=True)
class Tool:
    """A tool that labels go to and come back from.

    Attributes
    ----------
    name : str
        Of the tool, as ``--to`` takes it.
    title : str
        As people write it.
    write : function
        ``write(examples, path, options, advance)``: writes the export, and says for every file what
        is in it. `advance` is called with 1 for every example.
    read : function
        ``read(path)``: the corrections of a file or folder that comes back.
    recognises : function
        Whether a file or folder that exists is one that comes back from this tool.
    suffix : str
        Of the exported file; empty for a folder.
    whole : bool
        Whether all examples are exported unless fewer are asked for.
    steps : str
        What is done there, in a sentence or two.
    returned : str
        Name of what comes back, for the next command; empty if it is the exported file.
    replaced : mapping
        Characters of classes that the tool would not show, and what stands for them.
    """

    name: str
    title: str
    write: Callable[[Examples, Path, ExportOptions, Advance], dict[str, str]]
    read: Callable[[Path], Iterator[Correction]]
    recognises: Callable[[Path], bool]
    suffix: str
    steps: str
    returned: str
    whole: bool = False
    replaced: Mapping[str, str] = field(default_factory=dict)

    def captions(self, scores: Scores) -> Captions:
        """The classes of a result as this tool shows them."""
        return Captions(scores, self.replaced)
