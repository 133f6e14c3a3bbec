"""Features from pretrained encoders, from text, or from a function of the user."""

from __future__ import annotations

from cgscore.data.encoders.encoding import SCALINGS, encode, scaled
from cgscore.data.encoders.registry import Encoder, find_encoder

__all__ = ["SCALINGS", "Encoder", "encode", "find_encoder", "scaled"]
