"""Whether two checkouts of cgscore give the same scores: ``same_bits.py BEFORE [AFTER]``.

Both are folders with ``src/cgscore``; AFTER is this one by default. Each scores the same data in a
process of its own; then every array is compared. Fashion-MNIST is left out without
``CGSCORE_DATA``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORK = r"""
import os, sys, warnings
import numpy as np
import cgscore
warnings.simplefilter("ignore")
out = {}
def keep(name, s):
    for column in ("cg", "first_term", "partial", "third_term", "residual", "margin"):
        out[f"{name} {column}"] = s.table[column].to_numpy()
    out[f"{name} d"], out[f"{name} loo"], out[f"{name} alpha"] = s.d, s.loo, s.alpha
    out[f"{name} complexity"] = np.array(list(s.complexity.values()))
digits = cgscore.read("sklearn:digits")
keep("exact digits", cgscore.score(digits, method="exact"))
keep("exact digits, ridge auto", cgscore.score(digits, method="exact", ridge="auto"))
keep("exact digits, float32", cgscore.score(digits, method="exact", dtype="float32"))
keep("iterative digits", cgscore.score(digits, method="iterative"))
keep("subsample digits", cgscore.score(digits, method="subsample", ratio=1, runs=3, seed=4))
from sklearn.datasets import load_breast_cancer, load_diabetes
X, y = load_diabetes(return_X_y=True)
keep("exact regression", cgscore.score(X, y, task="regression", ridge=0.1))
X, y = load_breast_cancer(return_X_y=True)
X = np.vstack([X, X[:40]]); y = np.append(y, 1 - y[:20]); y = np.append(y, y[20:40])
keep("exact repeated rows", cgscore.score(X, y, method="exact"))
rng = np.random.default_rng(0)
big = rng.standard_normal((12000, 20)); labels = (big[:, 0] > 0).astype(int) + (big[:, 1] > 1)
keep("partition", cgscore.score(big, labels, method="partition", runs=1, seed=1))
flipped = digits.y.copy(); where = rng.choice(len(flipped), 180, replace=False)
flipped[where] = (flipped[where] + rng.integers(1, 10, 180)) % 10
s = cgscore.score(digits.X, flipped, ridge="auto")
issues = s.label_issues()
out["issues label_score"] = issues["label_score"].to_numpy()
out["issues flagged"] = issues["is_label_issue"].to_numpy()
out["issues predicted"] = issues["predicted_label"].to_numpy()
out["keep"] = s.keep(0.5)
data = os.environ.get("CGSCORE_DATA")
if data:
    d = cgscore.read(data + "/fashion-mnist")
    keep("exact 2,000 Fashion-MNIST", cgscore.score(d.X[:2000], d.y[:2000], method="exact"))
np.savez(sys.argv[1], **out)
"""


def scored(checkout: Path, file: Path) -> dict[str, np.ndarray]:
    """Every array of one checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    subprocess.run([sys.executable, "-c", WORK, str(file)], env=environment, check=True)
    with np.load(file) as arrays:
        return dict(arrays)


def main() -> int:
    """Compare and print; 0 if all scores are the same bits and probabilities agree to 1e-12."""
    before = Path(sys.argv[1])
    after = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        old, new = (
            scored(checkout, Path(folder) / f"{i}.npz")
            for i, checkout in enumerate((before, after))
        )
    differ = sorted(set(old) ^ set(new))
    for name in sorted(set(old) & set(new)):
        if old[name].tobytes() == new[name].tobytes():
            print(f"same bits      {name}")
            continue
        error = np.nanmax(np.abs(old[name].astype(float) - new[name].astype(float)))
        near = name.startswith("issues") and error <= 1e-12
        print(f"{'within 1e-12' if near else 'DIFFERS':14} {name}: {error:.1e}")
        if not near:
            differ.append(name)
    print(f"{len(old)} arrays; {len(differ)} differ")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
