"""Going through suspected labels in a browser: `cgscore review`."""

from cgscore.review.decisions import Decisions
from cgscore.review.server import application
from cgscore.review.session import Review

__all__ = ["Decisions", "Review", "application"]
