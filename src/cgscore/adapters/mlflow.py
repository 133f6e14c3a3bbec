"""MLflow: a result as a run, with parameters, metrics, and the files to open it again."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cgscore.data.csv_writer import write_csv
from cgscore.errors import OptionError
from cgscore.result.scores import Scores

MAX_PARAMETER = 500  # characters of a parameter
_PARAMETERS = ("method", "ridge", "kernel", "task", "seed", "n", "p", "classes", "source")


def log(scores: Scores, *, folder: str = "cgscore", prefix: str = "cgscore.") -> str:
    """Log a result to the active run of MLflow, or to a new one; the id of the run.

    Parameters
    ----------
    scores : Scores
        The result.
    folder : str
        Of the artifacts: ``scores.parquet``, which `cgscore.load` opens, and
        ``label_issues.csv``, all examples with the worst first.
    prefix : str
        Put before the names of parameters, metrics and tags.

    Raises
    ------
    OptionError
        MLflow is not installed.
    """
    try:
        import mlflow
    except ModuleNotFoundError as error:
        raise OptionError(
            "Logging to MLflow needs mlflow. Install it: pip install mlflow"
        ) from error
    active = mlflow.active_run()
    if active is None:
        with mlflow.start_run() as run:
            _log(mlflow, scores, folder, prefix)
            return str(run.info.run_id)
    _log(mlflow, scores, folder, prefix)
    return str(active.info.run_id)


def _log(mlflow: Any, scores: Scores, folder: str, prefix: str) -> None:
    meta = scores.meta
    parameters = {name: str(meta.get(name))[:MAX_PARAMETER] for name in _PARAMETERS}
    mlflow.log_params({f"{prefix}{name}": value for name, value in parameters.items()})
    tags = {"version": meta["version"], "fingerprint": meta["fingerprint"]}
    mlflow.set_tags({f"{prefix}{name}": value for name, value in tags.items()})
    issues = scores.find_issues()
    mlflow.log_metrics(
        {f"{prefix}{name}": value for name, value in metrics(scores, issues).items()}
    )
    with tempfile.TemporaryDirectory() as place:
        scores.save(Path(place) / "scores.parquet")
        table = issues.table.rename_axis("id").reset_index()
        ordered = table.sort_values("label_score", kind="stable")
        ordered.attrs = {}
        write_csv(ordered, Path(place) / "label_issues.csv")
        mlflow.log_artifacts(place, folder)


def metrics(scores: Scores, issues: Any) -> dict[str, float]:
    """What is worth a curve: how many labels look wrong, and how well others predict them."""
    cg = scores.table["cg"].to_numpy(np.float64)
    error, without = scores.typical_errors()
    low, high = issues.summary.interval
    values = {
        "flagged": issues.summary.flagged,
        "estimated_wrong": issues.summary.estimated_wrong,
        "estimated_wrong_low": low,
        "estimated_wrong_high": high,
        "accuracy": scores.judged_accuracy(),
        "median_error": error,
        "median_error_of_median": without,
        "cg_median": float(np.median(cg)),
        "cg_mean": float(np.mean(cg)),
        "seconds": float(scores.meta["timings"]["total"]),
    }
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}
