"""Inputs in which kernels see more: features of pretrained encoders, of text, of your own."""

from __future__ import annotations

from cgscore.data.encoders.encoding import SCALINGS, encode, scaled
from cgscore.data.encoders.registry import Encoder, find_encoder

__all__ = ["SCALINGS", "Encoder", "encode", "find_encoder", "scaled"]
