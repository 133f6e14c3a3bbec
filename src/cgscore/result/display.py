"""How a result is shown: a few lines at a prompt, the same with a histogram in a notebook."""

from __future__ import annotations

import base64
import html
import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cgscore.errors import CGScoreError, CGScoreWarning
from cgscore.execution.machine import show_seconds
from cgscore.result.histogram import Histogram

if TYPE_CHECKING:
    from cgscore.result.scores import Scores

MAX_JUDGED_FOR_DISPLAY = 20_000  # examples; judging more takes too long for a display


def as_text(scores: Scores) -> str:
    """Method, distribution of CG, disagreements with predictions, audit: one line each."""
    lines = [_headline(scores), f"  {_distribution(scores)}"]
    if len(scores.classes):
        predicted = int(scores.table["margin"].notna().sum())
        differ = round((1 - scores.accuracy()) * predicted) if predicted else 0
        of = "" if predicted == len(scores) else f" of the {predicted:,} that have a prediction"
        lines.append(f"  {differ:,} labels{of} differ from what the other examples predict")
    if audit := scores.meta.get("audit"):
        low, high = audit["rank_correlation_interval"]
        lines.append(
            f"  audit: rank correlation with the exact score {audit['rank_correlation']:.4f} "
            f"({low:.4f} to {high:.4f})"
        )
    return "\n".join(lines)


def as_html(scores: Scores) -> str:
    """The first two lines, a histogram of CG, and pictures of the worst suspects."""
    return (
        f"<div><strong>{html.escape(_headline(scores))}</strong><br>"
        f"{html.escape(_distribution(scores))}<br>{_histogram(scores)}"
        f"{suspects(scores)}</div>"
    )


def suspects(scores: Scores, count: int = 8) -> str:
    """Pictures of the labels that are most probably wrong; empty where there are none to show.

    Only data in memory are drawn: nothing is read from the source of a result for this.
    """
    dataset = scores.dataset_in_memory
    if dataset is None or not dataset.drawable or not scores.judged:
        return ""
    if not len(scores.classes) or len(scores) > MAX_JUDGED_FOR_DISPLAY:
        return ""
    names = scores.class_names()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CGScoreWarning)
            rows = scores.worst(count)
        cards = [
            _card(dataset.thumbnail(int(at), 96), names[given], names[suggested])
            for at, given, suggested in zip(
                rows["position"], rows["given_label"], rows["predicted_label"], strict=True
            )
        ]
    except (CGScoreError, OSError):  # the files are gone: the rest is shown
        return ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{"".join(cards)}</div>'


def flagged(scores: Scores) -> NDArray[np.bool_] | None:
    """Which labels are issues; None where judging would take too long, or nothing can be judged."""
    if not scores.judged or len(scores) > MAX_JUDGED_FOR_DISPLAY:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CGScoreWarning)
        return scores.label_issues()["is_label_issue"].to_numpy(bool)


def _card(picture: bytes, given: str, suggested: str) -> str:
    """One suspect: its picture, the given and the suggested label."""
    address = base64.b64encode(picture).decode()
    words = f"{html.escape(given[:40])} → {html.escape(suggested[:40])}"
    return (
        '<figure style="margin:0;width:96px">'
        f'<img src="data:image/png;base64,{address}" alt="{words}" '
        'style="width:96px;height:96px;object-fit:contain;background:#8882">'
        f'<figcaption style="font-size:11px;overflow-wrap:anywhere">{words}</figcaption></figure>'
    )


def _histogram(scores: Scores) -> str:
    return Histogram("CG", scores.table["cg"].to_numpy(), logarithmic=True).svg(320, 60)


def _headline(scores: Scores) -> str:
    meta = scores.meta
    task = f" in {len(scores.classes)} classes" if len(scores.classes) else ", regression"
    return (
        f"Scores of {len(scores):,} examples{task}: {meta['method']}, ridge {meta['ridge']:g}, "
        f"{show_seconds(meta['timings']['total'])}"
    )


def _distribution(scores: Scores) -> str:
    cg = scores.table["cg"].to_numpy()
    finite = np.sort(cg[np.isfinite(cg)])
    text = "no finite CG"
    if len(finite):
        top = float(finite[int(0.99 * (len(finite) - 1))])
        text = f"CG median {np.median(finite):.3g}, 1 % above {top:.3g}"
    if infinite := int(np.isinf(cg).sum()):
        text += f", {infinite:,} infinite (identical inputs with different labels)"
    if len(scores.classes) and scores.table["margin"].notna().any():
        text += f"; leave-one-out accuracy {100 * scores.accuracy():.1f} %"
    return text
