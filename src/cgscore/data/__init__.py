"""Readers: a path or an object in, one `Dataset` out."""

from __future__ import annotations

from cgscore.data.dataset import Dataset
from cgscore.data.source import read

__all__ = ["Dataset", "read"]
