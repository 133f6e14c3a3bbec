"""Whether two checkouts of cgscore are equally fast: ``same_speed.py BEFORE [AFTER]``.

Both take turns, so that a machine whose speed varies treats them alike; the best of each counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cgscore_paper.background_process import require_quiet

WORK = {
    "import cgscore": "import cgscore",
    "cgscore --help": "import sys; sys.argv = ['cgscore', '--help']\n"
    "import contextlib, io\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
    "    from cgscore.cli import main; main()",
    "exact, n = 5,000": "score('exact', 5000)",
    "iterative, n = 8,000": "score('iterative', 8000)",
}
TURNS = {
    "import cgscore": 15,
    "cgscore --help": 15,
    "exact, n = 5,000": 4,
    "iterative, n = 8,000": 4,
}

PROGRAM = r"""
import sys, time, resource
def score(method, n):
    import numpy as np, cgscore
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10
    X = rng.standard_normal((n, 784)) + 3 * np.eye(10, 784)[y]
    import inspect
    options = {"judge": False} if "judge" in inspect.signature(cgscore.score).parameters else {}
    cgscore.score(X[:300], y[:300], method=method, progress=False, **options)  # imports everything
    start = time.perf_counter()
    cgscore.score(X, y, method=method, progress=False, **options)
    return time.perf_counter() - start
start = time.perf_counter()
spent = None
exec(sys.argv[1] if "score(" not in sys.argv[1] else "spent = " + sys.argv[1])
spent = spent or time.perf_counter() - start
print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.__stdout__)
"""


def measured(checkout: Path, work: str) -> tuple[float, float]:
    """Seconds and megabytes of one process."""
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, work],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, megabytes = map(float, done.stdout.split()[-2:])
    return seconds, megabytes


def main() -> None:
    """Print both sides and their ratio."""
    before = Path(sys.argv[1])
    after = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1]
    print(f"{'':22} {'before':>18} {'after':>18}   time  memory")
    for name, work in WORK.items():
        sides: tuple[list[tuple[float, float]], ...] = ([], [])
        for _ in range(TURNS[name]):
            for side, checkout in zip(sides, (before, after), strict=True):
                side.append(measured(checkout, work))
        (s1, m1), (s2, m2) = ((min(s for s, _ in side), min(m for _, m in side)) for side in sides)
        print(
            f"{name:22} {s1:8.3f} s {m1:5.0f} MB {s2:8.3f} s {m2:5.0f} MB   "
            f"{s2 / s1:.2f}   {m2 / m1:.2f}"
        )


if __name__ == "__main__":
    require_quiet()
    main()
