"""Pictures inside the page: as large as the source has them and the page has room for.

Drawings of up to 64 pixels stay as they are, as PNG. Larger pictures become JPEG: those of suspects
large enough to judge them, all others small.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

    from cgscore.data import Dataset

SUSPECT_PIXELS = 256  # side of a suspect's picture
SMALL_PIXELS = 96  # side of all others
MAX_LARGE_PICTURES = 300  # beyond that suspects are small as well
MAX_DRAWING_PIXELS = 64  # up to this side pictures are drawings, and stay as they are
JPEG_QUALITY = 80


def embedded_pictures(
    dataset: Dataset, suspects: Sequence[int], others: Sequence[int], room: int
) -> tuple[dict[str, str], int]:
    """Pictures as data addresses, as many as fit, and the number of those that do not.

    Parameters
    ----------
    dataset : Dataset
        Where they come from.
    suspects, others : sequences of int
        Positions, the most important first.
    room : int
        Bytes that all of them may take.
    """
    side = SUSPECT_PIXELS if len(suspects) <= MAX_LARGE_PICTURES else SMALL_PIXELS
    wanted = dict.fromkeys(suspects, side)
    for at in others:
        wanted.setdefault(at, SMALL_PIXELS)
    pictures: dict[str, str] = {}
    for at, pixels in wanted.items():
        address = picture_address(dataset.picture(at), pixels)
        room -= len(address)
        if room < 0:
            break
        pictures[str(at)] = address
    return pictures, len(wanted) - len(pictures)


def picture_address(picture: Image, side: int) -> str:
    """A picture, not larger than `side` pixels either way, as a data address."""
    file = io.BytesIO()
    if max(picture.size) <= MAX_DRAWING_PIXELS:
        picture.save(file, "PNG")
        kind = "png"
    else:
        small = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        small.thumbnail((side, side))
        _on_white(small).save(file, "JPEG", quality=JPEG_QUALITY, optimize=True)
        kind = "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"


def is_large(dataset: Dataset, at: int) -> bool:
    """Whether a picture is larger than a drawing."""
    return max(dataset.picture(at).size) > MAX_DRAWING_PIXELS


def _on_white(picture: Image) -> Image:
    """A picture without transparency."""
    from PIL import Image as pil

    if picture.mode != "RGBA":
        return picture
    ground = pil.new("RGBA", picture.size, "white")
    return pil.alpha_composite(ground, picture).convert("RGB")
