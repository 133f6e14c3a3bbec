"""Verification of weights from packages by their SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cgscore.errors import OptionError

#: SHA-256 of each file.
DIGESTS = {
    "efficientnet-lite0-57934424.pth": (
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
    ),
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
}


def is_recorded(path: Path) -> bool:
    """Whether a file exists and has the digest recorded for its name."""
    if not path.is_file():
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 22):
            digest.update(part)
    return digest.hexdigest() == DIGESTS[path.name]


def verified(path: Path) -> Path:
    """The path of a file whose digest is the recorded one.

    Raises
    ------
    OptionError
        The file is missing or has another content.
    """
    if not is_recorded(path):
        raise OptionError(
            f"The weights {path.name} are missing or not those that cgscore was made with (their "
            "SHA-256 differs). Install them again: "
            'pip install --force-reinstall "cgscore[features]"'
        )
    return path
