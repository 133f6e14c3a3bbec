"""Names that data may give to files and folders on this system."""

from __future__ import annotations

import os

WINDOWS = os.name == "nt"

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"]
)


def is_file_name(name: str) -> bool:
    """Whether a text can name one file or folder, and leads nowhere else.

    On Windows a colon would lead to a hidden stream of another file, names such as ``nul.png`` are
    devices, and dots and spaces at the end are dropped, so that two names become one.
    """
    if name in ("", ".", "..") or any(character in name for character in "/\\\0"):
        return False
    if not WINDOWS:
        return True
    return (
        not any(character in '<>:"|?*' or ord(character) < 32 for character in name)
        and name[-1] not in ". "
        and name.split(".")[0].rstrip().lower() not in _DEVICES
    )
