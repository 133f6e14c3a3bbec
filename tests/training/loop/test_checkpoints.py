"""Networks restored from state dicts."""

from __future__ import annotations

import pytest

from cgscore.errors import OptionError
from cgscore.training.loop.checkpoints import Checkpoint, restored
from cgscore.training.loop.outputs import outputs
from tests.training.tiny import Tiny, images


def test_states_go_into_a_copy() -> None:
    model, X = Tiny(seed=0), images(3)
    before = outputs(model, X).features
    states: list[Checkpoint] = [Tiny(seed=1).state_dict(), Tiny(seed=2)]
    first, second = (outputs(net, X).features for net in restored(states, model))
    assert (first == outputs(Tiny(seed=1), X).features).all()
    assert (second == outputs(Tiny(seed=2), X).features).all()
    assert (outputs(model, X).features == before).all()
    with pytest.raises(OptionError, match="as model="):
        list(restored(states, None))
    with pytest.raises(OptionError, match="does not fit"):
        list(restored([Tiny(classes=4).state_dict()], model))
