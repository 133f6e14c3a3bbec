"""What a method costs."""

from __future__ import annotations

from typing import Any

import pytest

from cgscore.errors import OptionError
from cgscore.methods.auto import costs
from cgscore.methods.cost import Sizes
from cgscore.methods.options import Options
from cgscore.solvers.sampled import partition, subsample

pytestmark = pytest.mark.filterwarnings("ignore::cgscore.errors.CGScoreWarning")


def test_costs_of_very_many_classes_are_quick(uneven: Any) -> None:
    found = costs(
        Sizes(1_000_000, 10, 200_000), Options.checked(ratio=0.01)
    )  # task by task this would take hours
    assert found["subsample"].tasks > 10**9
    with pytest.raises(OptionError, match=r"These are [\d,]+ tasks: .* Say runs=10"):
        subsample.draws([5] * 20_000, 100_000, 10, 0.2, None)


@pytest.mark.parametrize(("n", "k"), [(6000, 10), (1797, 3), (50, 2)])
@pytest.mark.parametrize("ratio", [0.5, 4, 50])
def test_costs_are_those_of_the_tasks(n: int, k: int, ratio: float) -> None:
    n -= n % k
    found = costs(Sizes(n, 7, k), Options.checked(ratio=ratio))
    draws = subsample.draws([n // k] * k, n, 7, ratio, None)
    assert found["subsample"].tasks == len(draws)
    assert found["subsample"].flops == pytest.approx(sum(draw.flops for draw in draws))
    blocks = partition.blocks(n, 7, partition.block_count(n, 7, k), None)
    assert found["partition"].tasks == len(blocks)
    assert found["partition"].flops == pytest.approx(sum(block.flops for block in blocks))


def test_time_is_counted_in_rounds_of_tasks() -> None:
    one, two, three = (
        costs(Sizes(20_000, 5, 2), Options.checked(runs=1), w)["partition"] for w in (1, 2, 3)
    )
    assert one.tasks == 2
    assert one.seconds(1e9) == pytest.approx(two.seconds(2e9) * 2)
    assert three.seconds(3e9) == pytest.approx(two.seconds(2e9))  # the third has nothing to do
