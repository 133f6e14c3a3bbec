"""Names of files in saved results: no file holds an absolute path.

Where the data of a result were named by an absolute path, the file holds the way there from its own
folder; `RELATIVE` lists such names. So results can be given away, and moved together with their
data. The user's cache remembers where the data of a fingerprint were, for results that are moved
alone. Names that were typed as relative ones stay as they are: they count from where the user is.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from cgscore.errors import ResultError
from cgscore.execution.files import cache_folder, replace_file

RELATIVE = "relative_to_result"
OPTIONS = ("labels", "encoder")  # of `cgscore.read`, which may name files
PLACES = ("source", *OPTIONS)
TEXTS = ("notes", "warnings", "skipped")  # which may speak of them


def portable(meta: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Metadata for a file in this folder, without absolute paths."""
    content = dict(meta)
    content.pop(RELATIVE, None)
    options = dict(meta["read_options"])
    names: dict[str, str] = {}
    for kind in PLACES:
        place = content if kind == "source" else options
        name = place.get(kind)
        if isinstance(name, str) and PurePath(name).is_absolute():
            names[kind], place[kind] = name, _way(name, folder)
    if not names:
        return content
    _remember(meta["fingerprint"], names)
    content["read_options"], content[RELATIVE] = options, list(names)
    for kind in TEXTS:
        content[kind] = [_shortened(text, names) for text in content.get(kind, [])]
    return content


def located(meta: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Metadata as they were, of a file that is in this folder now."""
    content = dict(meta)
    changed = content.pop(RELATIVE, [])
    content["read_options"] = dict(meta["read_options"])
    remembered = None
    for kind in changed:
        place = content if kind == "source" else content["read_options"]
        if not isinstance(place.get(kind), str):
            continue
        name = os.path.normpath(os.path.join(os.path.abspath(folder), place[kind]))
        if not os.path.exists(name):
            remembered = _remembered(meta["fingerprint"]) if remembered is None else remembered
            name = remembered.get(kind, name)
        place[kind] = name
    return content


def _way(name: str, folder: Path) -> str:
    """From a folder to a file; only its last part where there is no way, as between drives."""
    try:
        return PurePath(os.path.relpath(name, os.path.abspath(folder))).as_posix()
    except ValueError:
        return PurePath(name).name


def _shortened(text: str, names: Mapping[str, str]) -> str:
    for name in sorted(names.values(), key=len, reverse=True):
        text = text.replace(name, PurePath(name).name or name)
    return text


def _memory(fingerprint: str) -> Path | None:
    """The file that remembers where the data of a fingerprint were."""
    cache = cache_folder()
    return None if cache is None else cache / "places" / f"{fingerprint}.json"


def _remember(fingerprint: str, names: Mapping[str, str]) -> None:
    file = _memory(fingerprint)
    if file is None:
        return
    content = json.dumps(names).encode()
    with contextlib.suppress(OSError, ResultError):  # it is a help, nothing more
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, lambda opened: opened.write(content))


def _remembered(fingerprint: str) -> dict[str, str]:
    """Where data were, for those that are still there."""
    file = _memory(fingerprint)
    try:
        names = {} if file is None else json.loads(file.read_bytes())
        return {
            kind: name
            for kind, name in names.items()
            if kind in PLACES and isinstance(name, str) and os.path.exists(name)
        }
    except (OSError, ValueError, AttributeError):
        return {}
