"""One self-contained page about a result: `Scores.report`, `cgscore report`."""

from cgscore.report.page import write

__all__ = ["write"]
