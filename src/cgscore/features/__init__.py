"""Inputs in which kernels see more: features of pretrained encoders, of text, of your own."""

from __future__ import annotations

from cgscore.features.encoders import Encoder, find_encoder
from cgscore.features.encoding import SCALINGS, encode, scaled

__all__ = ["SCALINGS", "Encoder", "encode", "find_encoder", "scaled"]
