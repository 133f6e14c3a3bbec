"""What the page says, as one document of plain numbers and texts.

Examples are named by their position. Everything a reader may look at has its text in ``names``;
texts are data, never markup.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgscore.issues.table import first_copies
from cgscore.kernel import Array

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores

BARS = 40  # of a histogram
EXTREME = 8  # easiest and hardest examples shown of a class
CLASSES = 100  # classes of which easiest and hardest are shown
POINTS = 100_000  # of the scatter plot
NAMED = 400_000  # bytes of ids up to which every point has its name
LONGEST = 300  # characters of a name
TEXT = 1000  # characters of an example that is text
IDS = 1_000_000  # bytes of the ids that can be copied; beyond that they are cut to LONGEST
PAIRS = 200  # class pairs listed
FRACTIONS = tuple(range(0, 100, 5))  # per cent removed
REPEATS = 200  # repeated rows listed

Index = NDArray[np.intp]


def content(
    scores: Scores,
    found: pd.DataFrame | None,
    suspects: pd.DataFrame,
    told: pd.DataFrame | None,
) -> dict[str, Any]:
    """All of the page but its pictures.

    Parameters
    ----------
    scores : Scores
        The result.
    found : DataFrame or None
        `Scores.label_issues`; None for a regression.
    suspects : DataFrame
        The worst of them, with their ``position``.
    told : DataFrame or None
        Neighbours of the suspects.
    """
    codes = scores.codes() if len(scores.classes) else np.zeros(len(scores), np.intp)
    extremes = _extremes(scores, codes)
    near = _near(told)
    listed = _suspects(scores, suspects, near)
    repeats = _repeats(scores)
    shown = {row["at"] for row in listed}
    shown |= {one["at"] for row in listed for side in ("given", "suggested") for one in row[side]}
    shown |= {at for one in extremes for at in (*one["easiest"], *one["hardest"])}
    shown |= {at for one in repeats["rows"] for at in (one["at"], one["of"])}
    return {
        "title": str(scores.meta["source"]),
        "verdict": _verdict(scores, found, len(listed)),
        "facts": _facts(scores),
        "notes": _notes(scores, found),
        "classes": _classes(scores, codes, found),
        "suspects": listed,
        "pairs": _pairs(scores, found, codes),
        "extremes": extremes,
        "histogram": _histogram(scores, codes),
        "scatter": _scatter(scores, codes, found),
        "pruning": _pruning(scores, codes),
        "repeats": repeats,
        "names": {str(at): short(scores.table["id"].iloc[at]) for at in sorted(shown)},
    }


#: Marks that would turn the direction of what is around them are shown as what they are.
_escaped = {
    chr(code): f"\\u{code:04x}"
    for code in (0x200E, 0x200F, 0x61C, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def short(value: Any, longest: int = LONGEST) -> str:
    """A text of bounded length."""
    text = "".join(_escaped.get(mark, mark) for mark in str(value))
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text):,} characters)"


def _verdict(scores: Scores, found: pd.DataFrame | None, shown: int) -> str:
    if found is None:
        return f"{len(scores):,} examples of a regression."
    n = int(found["label_score"].notna().sum())
    low, high = found.attrs["interval"]
    flagged = int(found["is_label_issue"].sum())
    if not flagged:
        doubt = found.attrs["hint"]
        return str(doubt) if found.attrs["blind"] else f"No label of {n:,} looks wrong."
    here = "here they are" if shown == flagged else f"here are the worst {shown:,}"
    here = here if shown else "none of them is shown"
    return (
        f"About {found.attrs['estimated_wrong']:,.0f} of {n:,} labels look wrong "
        f"(95 %: {low:,.0f} to {high:,.0f}); {flagged:,} are flagged, {here}."
    )


def _notes(scores: Scores, found: pd.DataFrame | None) -> list[str]:
    notes = [str(text) for text in scores.meta.get("warnings", [])]
    if found is not None and found.attrs["hint"]:
        notes.append(found.attrs["hint"])
    missing = 0 if found is None else int(found["label_score"].isna().sum())
    if missing:
        notes.append(f"{missing:,} examples have no prediction, and so no verdict.")
    return notes


def _facts(scores: Scores) -> list[list[str]]:
    meta = scores.meta
    facts = [
        ["data", f"{meta['source']}: {len(scores):,} examples of {meta['p']:,} numbers"],
        ["method", f"{meta['method']}, ridge {meta['ridge']:.3g}"],
    ]
    if len(scores.classes):
        facts[0][1] += f" in {len(scores.classes):,} classes"
        facts.append(["leave-one-out accuracy", f"{100 * scores.accuracy():.1f} %"])
    if meta.get("preprocessing", "none") != "none":
        facts.append(["preprocessing", str(meta["preprocessing"])])
    audit = meta.get("audit")
    if audit:
        low, high = audit["rank_correlation_interval"]
        facts.append(
            [
                "audit",
                f"rank correlation with the exact score {audit['rank_correlation']:.4f} "
                f"(95 %: {low:.4f} to {high:.4f}), from {audit['examples']} examples",
            ]
        )
        if "top_percent" in audit:
            low, high = audit["top_percent_interval"]
            facts.append(
                [
                    "audit of the top 1 %",
                    f"{audit['top_percent']:.1%} of the true top 1 % by cg are in the estimated "
                    f"top 1 % (95 %: {low:.1%} to {high:.1%})",
                ]
            )
    elif meta["method"] == "exact":
        facts.append(["audit", "exact: nothing is estimated"])
    facts += [
        ["fingerprint of the data", str(meta["fingerprint"])],
        ["version", f"cgscore {meta['version']}"],
    ]
    return facts


def _classes(scores: Scores, codes: Index, found: pd.DataFrame | None) -> list[dict[str, Any]]:
    names = scores.meta.get("class_names") or scores.classes.tolist() or ["all"]
    cg = scores.table["cg"].to_numpy()
    complexity = list(scores.complexity.values())
    wrong = list(found.attrs["wrong_by_class"].values()) if found is not None else []
    rows = []
    for c, name in enumerate(names):
        mine = cg[codes == c]
        mine = mine[np.isfinite(mine)]
        rows.append(
            {
                "name": short(name),
                "examples": int((codes == c).sum()),
                "mean": _finite(mine.mean()) if len(mine) else None,
                "deviation": _finite(mine.std()) if len(mine) else None,
                "median": _finite(np.median(mine)) if len(mine) else None,
                "complexity": _finite(complexity[c]),
                "wrong": wrong[c] if wrong else None,
            }
        )
    return rows


def _near(told: pd.DataFrame | None) -> dict[int, dict[str, list[dict[str, Any]]]]:
    near: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for row in [] if told is None else told.to_dict("records"):
        sides = near.setdefault(int(row["position"]), {"given": [], "suggested": []})
        sides[row["side"]].append(
            {
                "at": int(row["neighbour_position"]),
                "similarity": _finite(row["similarity"]),
                "share": _finite(row["share"]),
            }
        )
    return near


def _suspects(scores: Scores, suspects: pd.DataFrame, near: Any) -> list[dict[str, Any]]:
    if not len(suspects):
        return []
    place = {label: c for c, label in enumerate(scores.classes.tolist())}
    rows = []
    ids = [str(identity) for identity in suspects.index]
    whole = sum(len(text.encode("utf-8", "replace")) for text in ids) <= IDS
    for identity, row in zip(ids, suspects.to_dict("records"), strict=True):
        at = int(row["position"])
        rows.append(
            {
                "at": at,
                "id": identity if whole else identity[:LONGEST],
                "from": place[row["given_label"]],
                "to": place[row["predicted_label"]],
                "sure": _finite(row["confidence"]),
                "cg": _finite(row["cg"]),
                "kind": str(row["kind"]),
                **near.get(at, {"given": [], "suggested": []}),
            }
        )
    return rows


def _pairs(scores: Scores, found: pd.DataFrame | None, codes: Index) -> list[list[int]]:
    """How often each class is suggested for each given one: given, suggested, count."""
    if found is None:
        return []
    marked = found["is_label_issue"].to_numpy()
    if not marked.any():
        return []
    to = np.searchsorted(scores.classes, found["predicted_label"].to_numpy()[marked])
    pairs, counts = np.unique(np.stack([codes[marked], to]), axis=1, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:PAIRS]
    return [[int(pairs[0, i]), int(pairs[1, i]), int(counts[i])] for i in order]


def _extremes(scores: Scores, codes: Index) -> list[dict[str, Any]]:
    """The lowest and highest scores of each class (of the largest, if there are many)."""
    cg = scores.table["cg"].to_numpy()
    sizes = np.bincount(codes)
    kept = np.sort(np.argsort(-sizes, kind="stable")[:CLASSES])
    found = []
    for c in kept.tolist():
        mine = np.flatnonzero((codes == c) & ~np.isnan(cg))
        ordered = mine[np.argsort(cg[mine], kind="stable")]
        few = min(EXTREME, len(ordered) // 2)
        found.append(
            {
                "class": c,
                "easiest": ordered[:few].tolist(),
                "hardest": ordered[::-1][:few].tolist(),
                "low": [_finite(value) for value in cg[ordered[:few]]],
                "high": [_finite(value) for value in cg[ordered[::-1][:few]]],
            }
        )
    return found


def _histogram(scores: Scores, codes: Index) -> dict[str, Any]:
    """Counts of log10 CG in common bins: of every class, a row each."""
    cg = scores.table["cg"].to_numpy()
    usable = np.isfinite(cg) & (cg > 0)
    logs = np.log10(cg[usable]) if usable.any() else np.zeros(1)
    edges = np.linspace(logs.min(), max(logs.max(), logs.min() + 0.1), BARS + 1)
    place = np.clip(np.searchsorted(edges, np.log10(cg[usable]), "right") - 1, 0, BARS - 1)
    counts = np.zeros((int(codes.max()) + 1, BARS), np.int64)
    np.add.at(counts, (codes[usable], place), 1)
    return {
        "edges": [round(float(edge), 4) for edge in edges],
        "counts": counts.tolist(),
        "left_out": int(len(cg) - usable.sum()),
    }


def _scatter(scores: Scores, codes: Index, found: pd.DataFrame | None) -> dict[str, Any]:
    """CG and partial of every example, or of 100,000 at random and all suspects."""
    cg = scores.table["cg"].to_numpy()
    partial = scores.table["partial"].to_numpy()
    marked = np.zeros(len(cg), bool) if found is None else found["is_label_issue"].to_numpy()
    usable = np.flatnonzero(np.isfinite(cg) & np.isfinite(partial))
    drawn = usable
    if len(usable) > POINTS:
        rng = np.random.default_rng(0)
        drawn = np.sort(rng.choice(usable, POINTS, replace=False))
    ids = [str(value) for value in scores.table["id"].iloc[drawn]]
    length = sum(len(text.encode("utf-8", "replace")) for text in ids)
    return {
        "cg": _packed(cg[drawn], "<f4"),
        "partial": _packed(partial[drawn], "<f4"),
        "class": _packed(codes[drawn], "<u2"),
        "marked": _packed(marked[drawn], "u1"),
        "of": len(usable),
        "ids": ids if length <= NAMED else None,
        "at": None if len(drawn) == len(cg) else _packed(drawn, "<u4"),
    }


def _pruning(scores: Scores, codes: Index) -> dict[str, Any]:
    """Share of each class among what goes when a fraction of all examples is removed, by CG."""
    cg = scores.table["cg"].to_numpy()
    known = ~np.isnan(cg)
    order, missing = np.argsort(cg, kind="stable")[: known.sum()], np.flatnonzero(~known)
    k, n = int(codes.max()) + 1, len(cg)
    sizes = np.bincount(codes, minlength=k)
    found: dict[str, Any] = {"fractions": list(FRACTIONS)}
    for name, start in (("low-first", order), ("high-first", order[::-1])):
        ordered = np.concatenate([start, missing])  # without a score: last either way
        gone = np.stack(
            [
                np.bincount(codes[ordered[: round(n * f / 100)]], minlength=k)
                / np.maximum(sizes, 1)
                for f in FRACTIONS
            ]
        )
        found[name] = np.round(gone, 4).T.tolist()
    return found


def _repeats(scores: Scores) -> dict[str, Any]:
    """Rows that repeat an earlier one, those with another label first."""
    first, given = first_copies(scores.table), scores.table["given_label"].tolist()
    rows = [
        {"at": at, "of": of, "conflict": bool(given[at] != given[of])}
        for at, of in enumerate(first.tolist())
        if at != of
    ]
    rows.sort(key=lambda row: not row["conflict"])
    return {
        "count": len(rows),
        "conflicts": sum(row["conflict"] for row in rows),
        "rows": [
            {**row, "given": short(given[row["at"]]), "first": short(given[row["of"]])}
            for row in rows[:REPEATS]
        ],
    }


def _finite(value: Any) -> float | None:
    """A number that JSON knows, with six digits."""
    number = float(value)
    return float(f"{number:.6g}") if np.isfinite(number) else None


def _packed(values: Array | Index, kind: str) -> str:
    """Numbers as base64 of their bytes."""
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()
