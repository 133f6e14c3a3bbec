"""What each example of a labelled dataset is worth, without training a model.

>>> import cgscore
>>> s = cgscore.score(X, y)          # doctest: +SKIP
>>> s.table                          # doctest: +SKIP

Names are loaded when they are first used, so that ``import cgscore`` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cgscore.lazy_names import lazy_names

__version__ = "0.3.0"

if TYPE_CHECKING:
    from cgscore.api import complexity, factor, score
    from cgscore.data import Dataset, read
    from cgscore.errors import CGScoreError, CGScoreWarning
    from cgscore.factorisation import Factor
    from cgscore.kernel import gram
    from cgscore.result.scores import Scores, load

_HOMES = {
    "CGScoreError": "errors",
    "CGScoreWarning": "errors",
    "Dataset": "data",
    "Factor": "factorisation",
    "Scores": "result.scores",
    "complexity": "api",
    "factor": "api",
    "gram": "kernel",
    "load": "result.scores",
    "read": "data",
    "score": "api",
}

__all__ = [
    "CGScoreError",
    "CGScoreWarning",
    "Dataset",
    "Factor",
    "Scores",
    "complexity",
    "factor",
    "gram",
    "load",
    "read",
    "score",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
