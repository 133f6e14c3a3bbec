"""Names of files in saved results: no file holds the absolute path of its data.

Where the data of a result were named by an absolute path, the file holds the way there from its own
folder; `RELATIVE` lists such names. So results can be given away, and moved together with their
data. The user's cache remembers where the data of a fingerprint were, for results that are moved
alone. Names that were typed as relative ones stay as they are: they count from where the user is.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from cgscore.errors import ResultError
from cgscore.execution.files import cache_folder, replace_file

RELATIVE = "relative_to_result"  # the entry of the metadata
PLACES = ("source", "labels", "encoder")  # the last two are options of `cgscore.read`
#: An encoder may be named by a kind and a folder, as in ``transformers:/models/mine``.
_KIND = re.compile(r"([a-z][a-z0-9-]+:)?(.*)", re.DOTALL)


def portable(meta: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Metadata for a file in this folder, without absolute paths of the data."""
    content: dict[str, Any] = {**meta, "read_options": dict(meta["read_options"])}
    content.pop(RELATIVE, None)
    names: dict[str, str] = {}
    for kind in PLACES:
        place = _holder(content, kind)
        prefix, name = _split(place.get(kind))
        if _is_anchored(name):
            names[kind], place[kind] = prefix + name, prefix + _way(name, folder)
    if not names:
        return content
    _remember(meta["fingerprint"], names)
    content[RELATIVE] = list(names)
    kept = {kind: _holder(content, kind)[kind] for kind in names}
    paths = sorted({_split(name)[1] for name in names.values()}, key=len, reverse=True)
    content = {key: _without(value, paths) for key, value in content.items()}
    for kind, name in kept.items():
        _holder(content, kind)[kind] = name
    return content


def located(meta: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Metadata as they were, of a file that is in this folder now; names may be anybody's."""
    content: dict[str, Any] = {**meta, "read_options": dict(meta["read_options"])}
    changed = content.pop(RELATIVE, None)
    remembered = None
    for kind in PLACES if isinstance(changed, list) else ():
        place = _holder(content, kind)
        prefix, name = _split(place.get(kind))
        if kind not in changed or not name or _is_anchored(name):
            continue
        path = os.path.normpath(os.path.join(os.path.abspath(folder), name))
        if not os.path.exists(path):
            remembered = _remembered(meta["fingerprint"]) if remembered is None else remembered
            prefix, path = _split(remembered.get(kind, prefix + path))
        place[kind] = prefix + path
    return content


def _holder(meta: dict[str, Any], kind: str) -> dict[str, Any]:
    """Where in the metadata this name is."""
    options: dict[str, Any] = meta["read_options"]
    return meta if kind == "source" else options


def _split(name: Any) -> tuple[str, str]:
    """The kind and the path of a name; both empty if it is none."""
    if not isinstance(name, str):
        return "", ""
    parts = _KIND.fullmatch(name)
    if parts is None or PureWindowsPath(name).is_absolute():  # a drive is no kind
        return "", name
    return parts[1] or "", parts[2]


def _is_anchored(name: str) -> bool:
    """Whether a path does not depend on where one is, on any system."""
    return bool(PurePosixPath(name).root or PureWindowsPath(name).anchor)


def _way(name: str, folder: Path) -> str:
    """From a folder to a file; only its last part where there is no way, as between drives."""
    if PurePath(name).is_absolute():
        with contextlib.suppress(ValueError):
            return PurePath(os.path.relpath(name, os.path.abspath(folder))).as_posix()
    return PureWindowsPath(name).name or "data"


def _without(value: Any, paths: list[str]) -> Any:
    """The same, with these paths shortened to their last parts in every text."""
    if isinstance(value, str):
        for path in paths:
            last = PureWindowsPath(path).name or "data"  # without a backslash
            value = re.sub(rf"(?<![\w/\\]){re.escape(path)}(?![\w-])", last, value)
        return value
    if isinstance(value, dict):
        return {key: _without(item, paths) for key, item in value.items()}
    return [_without(item, paths) for item in value] if isinstance(value, list) else value


def _memory(fingerprint: str) -> Path | None:
    """The file that remembers where the data of a fingerprint were."""
    cache = cache_folder()
    return None if cache is None else cache / "places" / f"{fingerprint}.json"


def _remember(fingerprint: str, names: Mapping[str, str]) -> None:
    """Keep the names of what is there, beside those kept before."""
    file = _memory(fingerprint)
    there = {kind: name for kind, name in names.items() if os.path.exists(_split(name)[1])}
    if file is None or not there:
        return
    content = json.dumps({**_remembered(fingerprint), **there}).encode()
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
            if kind in PLACES and os.path.exists(_split(name)[1])
        }
    except (OSError, ValueError, AttributeError):
        return {}
