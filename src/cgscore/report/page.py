"""The file: content, pictures, scripts and styles in one page that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import CGScoreError
from cgscore.execution.files import replace_file
from cgscore.execution.progress import Listener, Progress, reporter
from cgscore.issues.neighbours import neighbours
from cgscore.issues.table import worst_first
from cgscore.report.content import TEXT, content, short
from cgscore.report.informative_columns import MOST, telling_columns
from cgscore.report.other_scores import compared
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset

WORST = 200  # suspects shown
SHARES = 20_000  # examples up to which the share of neighbours in a prediction is solved for
LARGEST = 4_800_000  # bytes of the page
PICTURES = 3_000_000  # bytes of thumbnails, or what is left
SIDE = 64  # pixels of a thumbnail

SCRIPTS = ("vendor/uPlot.iife.min.js", "nodes.js", "page.js")
STYLES = ("vendor/uPlot.min.css", "page.css")


def write(
    scores: Scores,
    path: str | Path,
    *,
    data: Any = None,
    worst: int = WORST,
    beside: pd.DataFrame | None = None,
    progress: bool | Listener | None = None,
) -> list[str]:
    """Write the page; what had to be left out comes back in words.

    Parameters
    ----------
    scores : Scores
        The result.
    path : str or Path
        The file.
    data : optional
        The scored data, if their source has moved; needed for pictures and neighbours.
    worst : int
        Suspected labels shown.
    beside : DataFrame, optional
        Other scores to compare with.
    """
    found = scores.label_issues() if len(scores.classes) else None
    suspects = scores.table.iloc[:0] if found is None else worst_first(found).head(worst)
    notes: list[str] = []
    dataset: Dataset | None = None
    try:
        dataset = scores.data(data)
    except CGScoreError as error:
        if data is not None:
            raise
        notes.append(f"Pictures and neighbours are left out: {error}")
    told = None
    if dataset is not None and len(suspects):
        told = _told(scores, dataset, suspects, reporter(progress))
    document = content(scores, found, suspects, told)
    document["beside"] = compared(scores, found, beside)
    document["pictures"], document["columns"], document["texts"] = {}, [], {}
    if dataset is not None and dataset.drawable:
        room = min(PICTURES, LARGEST - len(page(document).encode("utf-8", "replace")))
        document["pictures"], left_out = _pictures(dataset, _by_need(document), room)
        if left_out:
            notes.append(f"{left_out:,} thumbnails are left out to keep the page small.")
    elif dataset is not None and dataset.frame is not None and len(suspects):
        _add_columns(document, dataset, scores.codes())
    if dataset is not None and dataset.texts is not None:
        document["texts"] = {at: short(dataset.texts[int(at)], TEXT) for at in document["names"]}
    document["notes"] += notes
    replace_file(Path(path), lambda file: file.write(page(document).encode("utf-8", "replace")))
    return notes


def page(document: dict[str, Any]) -> str:
    """The page of a document."""
    styles = [_text(name) for name in STYLES]
    scripts = [_text(name) for name in SCRIPTS]
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {' '.join(map(_hash, styles))}; script-src {' '.join(map(_hash, scripts))}"
    )
    # no text of a script or style may end it; in data "<" is written so that none can begin
    data = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")
    parts = {
        "POLICY": policy,
        "STYLES": "".join(f"<style>{style}</style>" for style in styles),
        "SCRIPTS": "".join(f"<script>{script}</script>" for script in scripts),
        "NOTICE": _text("vendor/LICENSE-uPlot").replace("-->", "").strip(),
    }
    text = _text("page.html")
    for name, part in parts.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text.replace("{{DATA}}", data)  # last: nothing in the data is looked at again


def _text(name: str) -> str:
    return (files("cgscore.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _told(
    scores: Scores, dataset: Dataset, suspects: pd.DataFrame, progress: Progress
) -> pd.DataFrame:
    suggested = np.searchsorted(scores.classes, suspects["predicted_label"].to_numpy())
    return neighbours(
        dataset,
        scores.codes(),
        suspects["position"].tolist(),
        suggested.tolist(),
        ridge=scores.meta["ridge"],
        progress=progress,
        shares=len(dataset) <= SHARES,
    )


def _by_need(document: dict[str, Any]) -> list[int]:
    """Positions whose pictures the page can show, the most needed first."""
    suspects, extremes = document["suspects"], document["extremes"]
    wanted = [row["at"] for row in suspects]
    wanted += [at for one in extremes for at in (*one["hardest"], *one["easiest"])]
    wanted += [at for row in document["repeats"]["rows"] for at in (row["at"], row["of"])]
    wanted += [
        one["at"] for row in suspects for side in ("suggested", "given") for one in row[side]
    ]
    return list(dict.fromkeys(wanted))


def _add_columns(document: dict[str, Any], dataset: Dataset, codes: Any) -> None:
    """The columns that tell most about the suspects, and their values; the text, if there is."""
    rows, frame = document["suspects"], dataset.frame
    if frame is None:
        return
    suspects, suggested = (np.array([row[key] for row in rows], np.intp) for key in ("at", "to"))
    told = (
        telling_columns(frame, codes, suspects, suggested)
        if dataset.texts is None
        else frame.iloc[suspects, :MOST]
    )
    document["columns"] = [short(name) for name in told.columns]
    for row, values in zip(rows, told.itertuples(index=False), strict=True):
        row["values"] = [short(value, TEXT) for value in values]


def _pictures(dataset: Dataset, wanted: list[int], room: int) -> tuple[dict[str, str], int]:
    """Thumbnails as data addresses, as many as fit; and how many do not."""
    drawn: dict[str, str] = {}
    left = room
    for at in wanted:
        address = "data:image/png;base64," + base64.b64encode(dataset.thumbnail(at, SIDE)).decode()
        left -= len(address)
        if left < 0:
            break
        drawn[str(at)] = address
    return drawn, len(wanted) - len(drawn)
