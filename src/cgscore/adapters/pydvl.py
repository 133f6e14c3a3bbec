"""pyDVL: scores as a `ValuationResult`, for its plots and experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cgscore.errors import OptionError
from cgscore.result.scores import Scores

if TYPE_CHECKING:
    from pydvl.valuation import ValuationResult


def valuation_result(scores: Scores, by: str | ArrayLike = "cg") -> ValuationResult:
    """The values of all examples, with their ids as names.

    Parameters
    ----------
    scores : Scores
        The result.
    by : str or (n,) array
        Which value, as for `Scores.values`. ``"cg"``, the paper's, is high for examples that matter
        and for wrong labels; ``"label_score"`` is low for wrong labels, as pyDVL's values are
        for harmful examples.
    """
    try:
        from pydvl.utils.status import Status
        from pydvl.valuation.result import ValuationResult
    except ModuleNotFoundError as error:
        raise OptionError("valuation_result needs pyDVL. Install it: pip install pydvl") from error

    estimated = isinstance(by, str) and by == "cg" and "cg_std_error" in scores.table
    more: dict[str, Any] = {}
    if estimated:
        more["variances"] = scores.table["cg_std_error"].to_numpy(np.float64) ** 2
    return ValuationResult(
        values=scores.values(by),
        indices=np.arange(len(scores)),
        data_names=scores.table["id"].to_numpy(),
        algorithm=f"cgscore {by if isinstance(by, str) else 'values'}, {scores.meta['method']}",
        status=Status.Converged,
        **more,
    )
