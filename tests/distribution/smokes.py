"""One short call of every command, and what it needs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from dataclasses import dataclass

from tests.distribution.environments import Environment

#: Made in the environment, with what is installed there: a table, a pool, texts and photographs.
DATA = """
import csv, random
from pathlib import Path
import numpy as np
from PIL import Image

random.seed(0)
rows = [(f"r{i}", random.gauss(i % 2, 0.5), random.gauss(0, 1), "ab"[i % 2]) for i in range(80)]
rows[4] = (*rows[4][:3], "b")
with open("table.csv", "w", newline="") as file:
    csv.writer(file).writerows([("id", "size", "weight", "label"), *rows])
with open("pool.csv", "w", newline="") as file:
    csv.writer(file).writerows([("id", "size", "weight"), *(r[:3] for r in rows[:30])])
with open("texts.csv", "w", newline="") as file:
    words = ("good fine great nice".split(), "bad poor awful sad".split())
    texts = [(" ".join(random.choices(words[i % 2], k=6)), i % 2) for i in range(20)]
    csv.writer(file).writerows([("text", "label"), *texts])
rng = np.random.default_rng(0)
for i in range(12):
    folder = Path("photos") / "ab"[i % 2]
    folder.mkdir(parents=True, exist_ok=True)
    pixels = rng.integers(0, 256, (80, 80, 3)) // (1 + i % 2)
    Image.fromarray(pixels.astype("uint8")).save(folder / f"{i}.png")
"""
TENSORS = """
import torch, cgscore
X = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
assert len(cgscore.score(X, (X[:, 0] > 0).int()).table) == 40
from cgscore.training import models
models.resnet18(num_classes=3)
"""
TRAINING = """
from cgscore.errors import CGScoreError
try:
    import cgscore.training
except CGScoreError as error:
    raise SystemExit(print(f"error: {error}", file=__import__("sys").stderr) or 2)
"""
#: What somebody does in a spreadsheet between `export` and `import`.
CORRECT = """
import pandas
table = pandas.read_csv("exported.csv", dtype=str)
table["corrected_label"] = table["suggested_label"]
table.to_csv("exported.csv", index=False)
assert len(table)
"""


@dataclass(frozen=True)
class Smoke:
    """A call of the command line or of Python, and the extra that it needs, if any."""

    command: str
    arguments: tuple[str, ...]
    needs: str | None = None
    program: bool = False

    @property
    def name(self) -> str:
        """How the table calls it."""
        return self.command if self.program else " ".join([self.command, *self.arguments])


def _smoke(line: str, needs: str | None = None) -> Smoke:
    command, *arguments = line.split()
    return Smoke(command, tuple(arguments), needs)


#: In this order: later ones use the files of earlier ones.
SMOKES = [
    _smoke("--version"),
    _smoke("--help"),
    _smoke("demo"),
    _smoke("info table.csv"),
    _smoke("info --simulate n=60000,p=784,classes=10"),
    _smoke("score table.csv -o scores.parquet"),
    _smoke("score sklearn:iris -o iris.parquet --method subsample"),
    _smoke("score photos --encoder pixels -o pixels.parquet"),
    _smoke("score texts.csv --encoder tfidf -o texts.parquet"),
    _smoke("issues scores.parquet -o issues.csv"),
    _smoke("issues scores.parquet --why --json"),
    _smoke("prune scores.parquet --keep 0.5 -o kept.csv"),
    _smoke("next pool.csv --like scores.parquet --budget 5 -o next.csv"),
    _smoke("report scores.parquet -o report.html"),
    _smoke("export scores.parquet --to csv -o exported.csv"),
    Smoke("correct exported.csv", ("-c", CORRECT), program=True),
    _smoke("import scores.parquet exported.csv -o corrected.parquet"),
    _smoke("features texts.csv --encoder tfidf -o tfidf.npz"),
    _smoke("features texts.csv --encoder minilm -o minilm.npz", needs="features"),
    _smoke("features photos --encoder efficientnet-lite0 -o photos.npz", needs="features"),
    _smoke("score table.csv --workers 1 -o dask.parquet", needs="dask"),
    _smoke("score table.csv --device cuda -o device.parquet", needs="torch"),
    _smoke("paper --list", needs="paper"),
    _smoke("review scores.parquet --no-browser --json", needs="review"),
    Smoke("import cgscore.training", ("-c", TRAINING), needs="torch", program=True),
    Smoke("score tensors, build a network", ("-c", TENSORS), needs="torch", program=True),
]


def run(smoke: Smoke, environment: Environment) -> str:
    """The cell of the table: ``ok``, the extra that it asks for, or what went wrong."""
    ready = smoke.needs is None or environment.has(smoke.needs)
    if ready and smoke.command == "review":
        return _reviewed(environment, smoke)
    command = environment.python if smoke.program else environment.command
    arguments = smoke.arguments if smoke.program else (smoke.command, *smoke.arguments)
    if not ready and smoke.program and "training" not in smoke.command:
        return "-"
    done = environment.run(command, *arguments)
    expected = _expect_done if ready else _expect_the_extra
    if ready and "--device" in smoke.arguments:
        expected = _expect_done_or_no_device
    return expected(done, smoke)


def _expect_done(done: subprocess.CompletedProcess[str], smoke: Smoke) -> str:
    """Exit status 0, and no traceback."""
    if done.returncode or "Traceback" in done.stderr:
        return f"FAILED: status {done.returncode}: {_last(done.stderr)}"
    return "ok"


def _expect_done_or_no_device(done: subprocess.CompletedProcess[str], smoke: Smoke) -> str:
    if done.returncode == 2 and "cannot be used here" in done.stderr:
        return "no device"
    return _expect_done(done, smoke)


def _expect_the_extra(done: subprocess.CompletedProcess[str], smoke: Smoke) -> str:
    """Exit status 2, and one line that names the extra."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    named = len(lines) == 1 and f"cgscore[{smoke.needs}]" in lines[0]
    if done.returncode != 2 or not named or done.stderr.rstrip().splitlines()[-1] != lines[0]:
        return f"FAILED: no word of [{smoke.needs}]: status {done.returncode}: {_last(done.stderr)}"
    return f"asks for [{smoke.needs}]"


def _reviewed(environment: Environment, smoke: Smoke) -> str:
    """The page is served, and the server stops when it is interrupted."""
    with subprocess.Popen(
        [environment.command, smoke.command, *smoke.arguments],
        cwd=environment.work,
        env=environment.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if line:
            with urllib.request.urlopen(json.loads(line)["address"]) as page:
                status = page.status
        process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    if not line or status != 200 or (process.returncode not in (0, 130)):
        return f"FAILED: status {process.returncode}: {_last(errors)}"
    return "ok"


def commands(environment: Environment) -> set[str]:
    """Every command that the command line has."""
    program = "from cgscore.cli import app\nprint(*(c.name for c in app.registered_commands))"
    return set(environment.run(environment.python, "-c", program).stdout.split())


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["(nothing on standard error)"])[-1][:200]
