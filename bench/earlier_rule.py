"""The verdicts of version 0.1, which read one rate of noise off the most certain examples.

They are computed by the code of that version, which is taken from the history of this repository:
a clone needs the commit below, so a shallow one will not do.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

COMMIT = "641ad49"
PROGRAM = """
import sys
import numpy as np
from cgscore.issues import estimate_noise, judge
given = np.load(sys.argv[1])
F, codes = given["F"], given["codes"]
np.save(sys.argv[2], judge(F, codes, estimate_noise(F, codes)).right)
"""


@functools.cache
def _sources() -> tempfile.TemporaryDirectory[str]:
    """A folder with the package as it was."""
    root = Path(__file__).parents[1]
    archive = subprocess.run(
        ["git", "archive", COMMIT, "src/cgscore"], cwd=root, capture_output=True, check=False
    )
    if archive.returncode:
        sys.exit(f"The rule of version 0.1 is in commit {COMMIT}, which this clone does not have.")
    folder = tempfile.TemporaryDirectory()
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder.name, filter="data")
    return folder


def right_by_earlier_rule(F: Any, codes: Any) -> Any:
    """Probability of each label to be right, from leave-one-out predictions F and labels."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npy"
        np.savez(given, F=np.asarray(F, np.float64), codes=codes)
        command = [sys.executable, "-c", PROGRAM, str(given), str(answer)]
        environment = {"PYTHONPATH": str(Path(_sources().name) / "src")}
        subprocess.run(command, env=environment, check=True)
        return np.load(answer)
