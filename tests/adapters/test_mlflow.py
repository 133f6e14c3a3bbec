"""MLflow with a real local store, in an environment of its own (`make test` makes it)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import cgscore
from cgscore.adapters.mlflow import metrics
from cgscore.errors import OptionError
from tests.exchange.peers import ROOT, run_with_tools

AFTER = """
import json
client = mlflow.MlflowClient()
data = client.get_run(run).data
files = {file.path for file in client.list_artifacts(run, "cgscore")}
assert files == {"cgscore/scores.parquet", "cgscore/label_issues.csv"}, files
assert (again.table["cg"] == scores.table["cg"]).all()
assert data.tags["cgscore.fingerprint"] == scores.meta["fingerprint"]
assert data.metrics["cgscore.flagged"] == scores.label_issues()["is_label_issue"].sum()
with mlflow.start_run() as mine:
    numbers = cgscore.score("sklearn:diabetes", task="regression", ridge=0.1)
    assert numbers.log_mlflow(prefix="a/", folder="b") == mine.info.run_id
second = client.get_run(mine.info.run_id).data
assert second.params["a/task"] == "regression"
assert "a/median_error" in second.metrics and "a/accuracy" not in second.metrics
print(json.dumps([data.params, data.metrics]))
"""


def test_the_page_runs_with_a_real_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "mlflow.md").read_text()
    code = "".join(re.findall(r"^```python\n(.*?)^```", page, re.S | re.M))
    monkeypatch.chdir(tmp_path)
    answer = run_with_tools(code + AFTER).splitlines()[-1]
    parameters, values = json.loads(answer)
    assert parameters["cgscore.n"] == "150"
    assert parameters["cgscore.source"] == "sklearn:iris"
    assert 0.9 < values["cgscore.accuracy"] <= 1


def test_metrics_are_finite_and_an_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = cgscore.score("sklearn:iris", ridge=0.1)
    values = metrics(scores, scores.find_issues())
    assert values["flagged"] == scores.label_issues()["is_label_issue"].sum()
    assert "median_error" not in values  # there is none for classes
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(OptionError, match="pip install mlflow"):
        scores.log_mlflow()
