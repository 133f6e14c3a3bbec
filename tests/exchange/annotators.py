"""What people do in each tool, as far as files show it: choose labels, and export again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

#: ``annotate(exported, choices)``: the file that comes back after these labels were chosen.
Annotate = Callable[[Path, Mapping[int, Any]], Path]


def in_spreadsheet(exported: Path, choices: Mapping[int, Any]) -> Path:
    frame = pd.read_csv(exported, dtype=str, keep_default_na=False)
    labels = {str(at): str(label) for at, label in choices.items()}
    frame["corrected_label"] = [labels.get(at, "") for at in frame["cgscore_position"]]
    frame.to_csv(exported, index=False)
    return exported


ANNOTATE: dict[str, Annotate] = {"csv": in_spreadsheet}
