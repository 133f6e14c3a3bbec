"""The page: document, thumbnails, scripts and styles in one file that needs no network."""

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
from cgscore.report.content import content
from cgscore.report.informative_columns import MAX_COLUMNS, informative_columns
from cgscore.report.other_scores import compare_scores
from cgscore.report.values import MAX_TEXT_LENGTH, short
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset

DEFAULT_SUSPECTS = 200
MAX_SOLVED_EXAMPLES = 20_000  # beyond that the shares of neighbours are not solved for
MAX_PAGE_BYTES = 4_800_000
MAX_THUMBNAIL_BYTES = 3_000_000  # of all thumbnails, or what the page leaves
THUMBNAIL_PIXELS = 64  # side

SCRIPTS = ("vendor/uPlot.iife.min.js", "nodes.js", "page.js")
STYLES = ("vendor/uPlot.min.css", "page.css")


def write(
    scores: Scores,
    path: str | Path,
    *,
    data: Any = None,
    worst: int = DEFAULT_SUSPECTS,
    beside: pd.DataFrame | None = None,
    progress: bool | Listener | None = None,
    max_thumbnail_bytes: int = MAX_THUMBNAIL_BYTES,
) -> list[str]:
    """Write the page, and return what was left out, in words.

    Parameters
    ----------
    scores : Scores
        The result.
    path : str or Path
        The file.
    data : optional
        The scored data, if their source has moved; needed for pictures and neighbours.
    worst : int
        Number of suspected labels shown.
    beside : DataFrame, optional
        Other scores to compare with.
    progress : bool or function, optional
        As for `score`.
    max_thumbnail_bytes : int
        Bytes of all thumbnails; those beyond are left out.
    """
    issues = scores.find_issues() if scores.judged else None
    suspects = scores.table.iloc[:0] if issues is None else issues.worst_first().head(worst)
    notes: list[str] = []
    dataset: Dataset | None = None
    try:
        dataset = scores.data(data)
    except CGScoreError as error:
        if data is not None:
            raise
        notes.append(f"Pictures and neighbours are left out: {error}")
    near = None
    if dataset is not None and len(suspects):
        near = _neighbours(scores, dataset, suspects, reporter(progress))
    document = content(scores, issues, suspects, near)
    document["beside"] = compare_scores(scores, None if issues is None else issues.table, beside)
    document["pictures"], document["columns"], document["texts"] = {}, [], {}
    if dataset is not None and dataset.drawable:
        size = len(page(document).encode("utf-8", "replace"))
        room = min(max_thumbnail_bytes, MAX_PAGE_BYTES - size)
        document["pictures"], omitted = _thumbnails(dataset, _by_priority(document), room)
        if omitted:
            notes.append(f"{omitted:,} thumbnails are left out to keep the page small.")
    elif dataset is not None and dataset.frame is not None and len(suspects):
        _add_columns(document, dataset, scores)
    if dataset is not None and dataset.texts is not None:
        document["texts"] = {
            at: short(dataset.texts[int(at)], MAX_TEXT_LENGTH) for at in document["names"]
        }
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
    # Without "<" in the data nothing in them can end the script element that holds them.
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
    return text.replace("{{DATA}}", data)  # last, so that nothing in the data is replaced


def _text(name: str) -> str:
    return (files("cgscore.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _neighbours(
    scores: Scores, dataset: Dataset, suspects: pd.DataFrame, progress: Progress
) -> pd.DataFrame:
    """The neighbours of the suspects."""
    codes = suggested = None
    if len(scores.classes):
        codes = scores.codes()
        suggested = np.searchsorted(scores.classes, suspects["predicted_label"].to_numpy())
    return neighbours(
        dataset,
        suspects["position"].tolist(),
        codes,
        suggested,
        ridge=scores.judging_ridge,
        kernel=scores.kernel,
        progress=progress,
        shares=len(dataset) <= MAX_SOLVED_EXAMPLES,
    )


def _by_priority(document: dict[str, Any]) -> list[int]:
    """Positions of the examples that the page shows, the most important first."""
    suspects, extremes = document["suspects"], document["extremes"]
    wanted = [row["at"] for row in suspects]
    wanted += [at for row in extremes for at in (*row["hardest"], *row["easiest"])]
    wanted += [at for row in document["repeats"]["rows"] for at in (row["at"], row["of"])]
    wanted += [
        neighbour["at"]
        for row in suspects
        for side in ("suggested", "given", "similar")
        for neighbour in row[side]
    ]
    return list(dict.fromkeys(wanted))


def _add_columns(document: dict[str, Any], dataset: Dataset, scores: Scores) -> None:
    """Add the most informative columns and their values; without classes the first columns."""
    rows, frame = document["suspects"], dataset.frame
    if frame is None:
        return
    suspects = np.array([row["at"] for row in rows], np.intp)
    if dataset.texts is None and len(scores.classes):
        suggested = np.array([row["to"] for row in rows], np.intp)
        columns = informative_columns(frame, scores.codes(), suspects, suggested)
    else:
        columns = frame.iloc[suspects, :MAX_COLUMNS]
    document["columns"] = [short(name) for name in columns.columns]
    for row, values in zip(rows, columns.itertuples(index=False), strict=True):
        row["values"] = [short(value, MAX_TEXT_LENGTH) for value in values]


def _thumbnails(dataset: Dataset, wanted: list[int], room: int) -> tuple[dict[str, str], int]:
    """Thumbnails as data addresses, as many as fit, and the number of those that do not."""
    thumbnails: dict[str, str] = {}
    remaining = room
    for at in wanted:
        png = base64.b64encode(dataset.thumbnail(at, THUMBNAIL_PIXELS)).decode()
        address = f"data:image/png;base64,{png}"
        remaining -= len(address)
        if remaining < 0:
            break
        thumbnails[str(at)] = address
    return thumbnails, len(wanted) - len(thumbnails)
