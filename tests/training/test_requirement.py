"""What is said where torch is missing, and that numpy alone is enough for the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgscore.errors import OptionError
from cgscore.training.feature_space import feature_space_scores
from cgscore.training.grand import grand
from cgscore.training.outputs import outputs
from cgscore.training.velocity import kernel_velocity, tangent_kernel

OWN = [
    *["checkpoints", "consistency", "craig", "dynamics", "el2n", "feature_space", "forgetting"],
    *["grand", "levels", "outputs", "requirement", "residuals", "tables", "tangent", "theory"],
    *["tracin", "two_layer", "velocity"],
]


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    network: Any = None
    X = np.zeros((2, 3))
    for call in (
        lambda: outputs(network, X),
        lambda: grand([network], X, [0, 1]),
        lambda: tangent_kernel(network, X),
        lambda: kernel_velocity([network], X, [[0]]),
        lambda: feature_space_scores(X, [0, 1], {1: network}),
    ):
        with pytest.raises(OptionError, match=r'pip install "cgscore\[torch\]"'):
            call()


def test_no_module_loads_torch_before_it_is_used() -> None:
    names = ", ".join(f"cgscore.training.{name}" for name in OWN)
    program = f"import sys, {names}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
    folder = Path(str(sys.modules[outputs.__module__].__file__)).parent
    assert set(OWN) <= {path.stem for path in folder.glob("*.py")}
