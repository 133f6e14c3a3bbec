from __future__ import annotations

import numpy as np
import pytest

from cgscore.execution.random_streams import stream
from cgscore.rows import streamed_rows
from cgscore.solvers.lowrank.landmarks import landmarks_of
from cgscore.solvers.lowrank.ridge import sample_of
from cgscore.solvers.ridge_search import ridge_sample


def test_streams_of_other_seeds_purposes_and_numbers_differ() -> None:
    keys: list[tuple[int | str, ...]] = [(), ("ridge",), ("audit",), (1,), (1, "ridge")]
    drawn = {stream(seed, *key).integers(2**62) for key in keys for seed in (0, 1)}
    assert len(drawn) == 2 * len(keys)
    assert stream(3, "ridge", 2).integers(2**62) == stream(3, "ridge", 2).integers(2**62)


def drawn_by_a_user(n: int, share: float, seed: int) -> set[int]:
    """Examples whose labels somebody changes for a trial."""
    return set(np.random.default_rng(seed).choice(n, round(share * n), replace=False).tolist())


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", [0, 1])
def test_samples_do_not_follow_what_users_draw_with_the_same_seed(share: float, seed: int) -> None:
    n = 5000
    codes = np.arange(n) % 10
    rows = streamed_rows(np.random.default_rng(9).standard_normal((n, 4)))
    samples = {
        "ridge": ridge_sample(codes, seed),
        "ridge of landmarks": sample_of(codes, seed),
        "landmarks": landmarks_of(rows, 300, 0.1, seed=seed).positions,
    }
    theirs = drawn_by_a_user(n, share, seed)
    for name, sample in samples.items():
        common = len(theirs & set(sample.tolist())) / len(sample)
        deviation = np.sqrt(share * (1 - share) / len(sample))
        assert abs(common - share) < 5 * deviation, name
