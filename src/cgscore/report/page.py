"""The page: document, thumbnails, scripts and styles in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgscore.errors import CGScoreError, SingularKernelError
from cgscore.execution.files import replace_file
from cgscore.execution.progress import Listener, Progress, reporter
from cgscore.issues.neighbours import neighbours
from cgscore.report.column_fit import column_fits
from cgscore.report.content import content, source_name
from cgscore.report.example_map import example_map
from cgscore.report.informative_columns import MAX_COLUMNS, informative_positions
from cgscore.report.other_scores import compare_scores
from cgscore.report.pictures import embedded_pictures, is_large
from cgscore.report.values import MAX_TEXT_LENGTH, short
from cgscore.result.scores import Scores
from cgscore.typing import Index

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.data import Dataset

DEFAULT_SUSPECTS = 200
MAX_SOLVED_EXAMPLES = 20_000  # beyond that the shares of neighbours are not solved for
MAX_CELL_LENGTH = 60  # characters of a cell of an example that is no suspect
MAX_PAGE_BYTES = 2_900_000  # with pictures that are drawings
MAX_PHOTOGRAPH_PAGE_BYTES = 9_500_000

SCRIPTS = (
    "vendor/uPlot.iife.min.js",
    *("nodes.js", "values.js", "examples.js", "lightbox.js", "suspects.js", "confusion.js"),
    *("example_map.js", "class_charts.js", "scatter.js", "tables.js", "page.js"),
)
STYLES = ("vendor/uPlot.min.css", "design.css", "page.css")


def write(
    scores: Scores,
    path: str | Path,
    *,
    data: Any = None,
    worst: int = DEFAULT_SUSPECTS,
    beside: pd.DataFrame | None = None,
    progress: bool | Listener | None = None,
    max_thumbnail_bytes: int | None = None,
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
        Number of suspected labels on the page.
    beside : DataFrame, optional
        Other scores to compare with.
    progress : bool or function, optional
        As for `score`.
    max_thumbnail_bytes : int, optional
        Bytes of all pictures; by default what the page leaves. Those beyond are left out.
    """
    document, notes = page_document(
        scores,
        data=data,
        worst=worst,
        beside=beside,
        progress=progress,
        max_thumbnail_bytes=max_thumbnail_bytes,
    )
    replace_file(Path(path), lambda file: file.write(page(document).encode("utf-8", "replace")))
    return notes


def page_document(
    scores: Scores,
    *,
    data: Any = None,
    worst: int = DEFAULT_SUSPECTS,
    beside: pd.DataFrame | None = None,
    progress: bool | Listener | None = None,
    max_thumbnail_bytes: int | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """All that the page shows, and what was left out, in words; parameters as of `write`."""
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
    document["typical"], document["cells"], document["map"] = [], {}, None
    if dataset is not None:
        shown = np.array([row["at"] for row in document["suspects"]], np.intp)
        table = None if issues is None else issues.table
        try:
            document["map"] = example_map(scores, dataset, table, shown)
        except SingularKernelError as error:
            notes.append(f"The map is left out: {error}")
    if dataset is not None and dataset.drawable:
        omitted = _add_pictures(document, dataset, max_thumbnail_bytes)
        if omitted:
            notes.append(f"{omitted:,} thumbnails are left out to keep the page small.")
    elif dataset is not None and dataset.frame is not None and len(suspects):
        _add_columns(document, dataset, scores)
    if dataset is not None and dataset.texts is not None:
        document["texts"] = {
            at: short(dataset.texts[int(at)], MAX_TEXT_LENGTH) for at in document["names"]
        }
    document["notes"] += notes
    source = str(scores.meta["source"])
    document["notes"] = [note.replace(source, source_name(source)) for note in document["notes"]]
    return document, notes


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


def _add_pictures(document: dict[str, Any], dataset: Dataset, limit: int | None) -> int:
    """Add the pictures of the examples that the page shows; the number of those left out."""
    suspects = [row["at"] for row in document["suspects"]]
    others = _other_examples(document)
    if not suspects and not others:
        return 0
    large = is_large(dataset, (suspects or others)[0])
    size = len(page(document).encode("utf-8", "replace"))
    room = (MAX_PHOTOGRAPH_PAGE_BYTES if large else MAX_PAGE_BYTES) - size
    if limit is not None:
        room = min(room, limit)
    document["pictures"], omitted = embedded_pictures(dataset, suspects, others, room)
    return omitted


def _other_examples(document: dict[str, Any]) -> list[int]:
    """Positions of the examples besides suspects that the page shows, the most important first."""
    sides = ("suggested", "given", "similar")
    wanted = [at for row in document["repeats"]["rows"] for at in row["members"]]
    wanted += [
        at for row in document["extremes"] for at in (*row["hardest"][:4], *row["easiest"][:4])
    ]
    wanted += [
        neighbour["at"] for row in document["suspects"] for side in sides for neighbour in row[side]
    ]
    wanted += [at for row in document["extremes"] for at in (*row["hardest"], *row["easiest"])]
    return list(dict.fromkeys(wanted))


def _add_columns(document: dict[str, Any], dataset: Dataset, scores: Scores) -> None:
    """Add the most informative columns and their values; without classes the first columns."""
    rows, frame = document["suspects"], dataset.frame
    if frame is None:
        return
    suspects = np.array([row["at"] for row in rows], np.intp)
    classes = dataset.texts is None and len(scores.classes) > 0
    shown: Index = np.arange(min(frame.shape[1], MAX_COLUMNS))
    if classes:
        suggested = np.array([row["to"] for row in rows], np.intp)
        shown = informative_positions(frame, scores.codes(), suspects, suggested)
        fits, document["typical"] = column_fits(
            frame.iloc[:, shown], scores.codes(), suspects, suggested
        )
    document["columns"] = [short(name) for name in frame.columns[shown]]
    for number, values in enumerate(frame.iloc[suspects, shown].itertuples(index=False)):
        rows[number]["values"] = [short(value, MAX_TEXT_LENGTH) for value in values]
        if classes:
            rows[number]["fits"] = fits[number].tolist()
    if dataset.texts is None:
        others = [int(at) for at in document["names"]]
        cells = frame.iloc[others, shown].itertuples(index=False)
        document["cells"] = {
            at: [short(value, MAX_CELL_LENGTH) for value in values]
            for at, values in zip(others, cells, strict=True)
        }
