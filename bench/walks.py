"""How far a call walks: the modules of cgscore that one takes part in, and its hops between them.

``python bench/walks.py [CHECKOUT]``. A hop is a pair of modules of which one calls the other; the
three walks are ``score(X, y)``, the issues of a folder of images, and ``partition`` on Dask.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WALKS = {
    "score(X, y)": "cgscore.score(X, y)",
    "issues of a folder": "cgscore.score(folder, ridge='auto').label_issues()",
    "partition on Dask": "cgscore.score(X, y, method='partition', client=client)",
}

WORK = r"""
import sys, tempfile, warnings
from pathlib import Path
import numpy as np
import cgscore
from PIL import Image
warnings.simplefilter("ignore")

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i in range(40):
            place = folder / "ab"[i % 2]
            place.mkdir(exist_ok=True)
            Image.fromarray(rng.integers(0, 255, (8, 8), np.uint8)).save(place / f"{i}.png")
        client = None
        if "client" in sys.argv[1]:
            from distributed import Client
            client = Client(n_workers=1, threads_per_worker=1, dashboard_address=None)
        exec(sys.argv[1])  # everything is imported
        hops, deepest = set(), 0
        def depth(frame):
            names = []
            while frame is not None:
                name = frame.f_globals.get("__name__", "")
                if name.startswith("cgscore.") and (not names or names[-1] != name):
                    names.append(name)
                frame = frame.f_back
            return names
        def watch(frame, event, argument):
            global deepest
            if event == "call" and frame.f_back:
                ends = [f.f_globals.get("__name__", "") for f in (frame.f_back, frame)]
                if all(e.startswith("cgscore.") for e in ends) and ends[0] != ends[1]:
                    hops.add(tuple(ends))
                    deepest = max(deepest, len(depth(frame)))
        sys.setprofile(watch)
        exec(sys.argv[1])
        sys.setprofile(None)
        if client is not None:
            client.close()
    print(len({m for hop in hops for m in hop}), len(hops), deepest)
"""


def main() -> None:
    """Print modules and hops of every walk."""
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    for name, call in WALKS.items():
        done = subprocess.run(
            [sys.executable, "-c", WORK, call],
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        modules, hops, deepest = done.stdout.split()
        print(f"{name:20} {modules:>3} modules, {hops:>3} hops, {deepest:>2} deep")


if __name__ == "__main__":
    main()
