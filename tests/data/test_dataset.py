"""What every reader returns."""

from __future__ import annotations

import numpy as np
from tests.data.examples import X, Y

import cgscore


def test_the_fingerprint_changes_with_the_data() -> None:
    base = cgscore.read(X, labels=Y)
    assert base.fingerprint == cgscore.read(X.copy(), labels=Y.copy()).fingerprint
    other = X.copy()
    other[3, 2] += 1e-9
    changed = [
        cgscore.read(other, labels=Y),
        cgscore.read(X, labels=Y[::-1]),
        cgscore.read(X.astype(np.float32), labels=Y),
        cgscore.read(X.reshape(12, 2, 2), labels=Y),
        cgscore.read(np.asfortranarray(X)[::-1], labels=Y),
    ]
    assert len({base.fingerprint, *(data.fingerprint for data in changed)}) == 6
    assert cgscore.read(np.asfortranarray(X), labels=Y).fingerprint == base.fingerprint
