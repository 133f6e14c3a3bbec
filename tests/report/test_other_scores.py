"""Other scores beside those of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from cgscore.errors import OptionError
from tests.report.pages import document, opened

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_other_scores_beside(digits: Any, browser: Browser, tmp_path: Path) -> None:
    scores, _ = digits
    rng = np.random.default_rng(0)
    table = scores.table[["id", "given_label", "cg"]].assign(
        like=scores.table["cg"] ** 2, noise=rng.random(len(scores)), words="x"
    )
    table.loc[3, "noise"] = np.nan
    path = tmp_path / "beside.html"
    scores.report(path, beside=table)
    told = document(path)["beside"]
    assert told["names"] == ["cg", "like", "noise"]
    usable = table[["cg", "like", "noise"]].rank().corr()
    assert np.allclose(told["correlation"], usable, atol=0.01)
    assert told["suspects"][1] == told["suspects"][0] > 0.5 > told["suspects"][2]
    with opened(browser, path) as page:
        assert page.locator("#beside tbody tr").count() == 3
        assert page.locator("#beside tbody td").first.inner_text() == "1.00"
    with opened(browser, digits[1]) as page:
        assert page.locator("#beside").is_hidden()
    for wrong, message in (
        (table.iloc[:-1], "must have 1,797 rows"),
        (table.iloc[::-1], "other ids"),
        (table[["id", "words"]], "no columns of numbers"),
    ):
        with pytest.raises(OptionError, match=message):
            scores.report(path, beside=wrong)
