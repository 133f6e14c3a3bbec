"""What to do next, after a verdict: a few steps with the command of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cgscore.report.values import short

if TYPE_CHECKING:
    from cgscore.issues.table import LabelIssues
    from cgscore.result.scores import Scores

MIN_PAIR_SHARE = 0.2  # of the flagged labels, for a class pair worth a step of its own
MIN_PAIR = 5  # flagged labels of such a pair
RESULT = "RESULT"  # the name of the result in commands: the page does not know where it is saved


def next_steps(
    scores: Scores, issues: LabelIssues | None, pairs: list[list[int]], conflicts: int
) -> list[dict[str, str]]:
    """Steps in the order in which they pay: ``text``, and ``command`` where there is one.

    Parameters
    ----------
    scores : Scores
        The result.
    issues : LabelIssues or None
        Its label issues.
    pairs : list
        Given class, suggested class, number of flagged labels; the most frequent first.
    conflicts : int
        Examples that repeat another one under another label.
    """
    if issues is None:
        return [_step("Score with another method, so that labels can be judged.")]
    summary = issues.summary
    if summary.uninformative:
        return [
            _step("Score other features of the examples.", "cgscore score SOURCE --encoder NAME")
        ]
    steps = []
    noun = "label" if len(scores.classes) else "value"
    if summary.flagged:
        these = f"the {summary.flagged:,} flagged {noun}s"
        if summary.flagged == 1:
            these = f"the flagged {noun}"
        steps.append(_step(f"Decide on {these} in the browser.", f"cgscore review {RESULT}"))
    steps += _pair_step(scores, pairs, summary.flagged)
    if conflicts:
        steps.append(
            _step(
                f"Look at the {conflicts:,} examples that contradict an identical one.",
                at="repeats",
            )
        )
    worse = _worst_source(scores, issues)
    if worse is not None:
        text = (
            f"Ask about the {noun}s from {worse}: more of them are wrong than from other sources."
        )
        steps.append(_step(text, at="sources"))
    if summary.flagged:
        steps.append(
            _step(
                f"Or train without flagged {noun}s, on the most useful 80 %.",
                f"cgscore prune {RESULT} --keep 0.8 --order auto",
            )
        )
    else:
        steps.append(
            _step(
                "Keep the most useful half of the examples.",
                f"cgscore prune {RESULT} --keep 0.5 --order auto",
            )
        )
    return steps


def _pair_step(scores: Scores, pairs: list[list[int]], flagged: int) -> list[dict[str, str]]:
    """A step about the most frequent pair of classes, if it stands out."""
    if not pairs or pairs[0][2] < max(MIN_PAIR, MIN_PAIR_SHARE * flagged):
        return []
    if len(scores.classes) < 3:
        return []
    start, end, count = pairs[0]
    names = list(scores.class_names().values())
    text = (
        f"Check the rule that tells {short(names[start], 40)} from {short(names[end], 40)}: "
        f"{count:,} of the {flagged:,} flagged labels confuse them."
    )
    return [_step(text, at="map")]


def _worst_source(scores: Scores, issues: LabelIssues) -> str | None:
    """The source that has more wrong labels than the others, if there is one."""
    if "source" not in scores.table:
        return None
    worse = scores.sources()
    worse = worse[worse["differs"] == "more"]
    return None if not len(worse) else short(worse["source"].iloc[0], 60)


def _step(text: str, command: str = "", *, at: str = "") -> dict[str, str]:
    return {"text": text, "command": command, "at": at}
