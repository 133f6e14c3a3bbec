"""The automatic ridge."""

from __future__ import annotations

import numpy as np
import pytest

import cgscore
from cgscore.errors import OptionError
from cgscore.solvers import ridge_search as ridges
from cgscore.valuation import class_targets
from tests.issues.examples import blobs

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_the_automatic_ridge_has_the_least_error(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs([80, 80, 80], apart=1.0)
    monkeypatch.setattr(ridges, "CANDIDATES", 10.0 ** np.linspace(-3, 1, 9))
    found = ridges.least_error(cgscore.kernel.unit_rows(X), class_targets(y, 3))
    errors = []
    for ridge in ridges.CANDIDATES:
        s = cgscore.score(X, y, ridge=float(ridge))
        errors.append(np.mean((class_targets(y, 3) - s.loo) ** 2))
    assert found.ridge == ridges.CANDIDATES[int(np.argmin(errors))]
    assert found.error == pytest.approx(min(errors), rel=1e-8)
    assert found.error_without == pytest.approx(errors[0], rel=1e-8)
    s = cgscore.score(X, y, ridge="auto", method="partition")
    assert s.meta["ridge"] == found.ridge
    assert s.meta["ridge_choice"]["examples"] == 240
    with pytest.raises(OptionError, match="'auto'"):
        cgscore.score(X, y, ridge="some")
