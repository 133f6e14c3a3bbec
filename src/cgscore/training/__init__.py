"""Networks, their training, and the scores that need it. Everything here needs torch.

>>> from cgscore.training import preset, scores_by_training, train    # doctest: +SKIP

Names are loaded when they are first used. Parts, each of which imports only those above it:

==============================  ====================================================================
`cgscore.training.networks`     networks, and gradients of single examples
`cgscore.training.models`       the networks by name
`cgscore.training.loop`         `train`: inputs, schedule, steps, records, and resuming
`cgscore.training.scores`       one file per score, and tables of scores
`cgscore.training.presets`      settings and epochs: the paper's, and small ones
`cgscore.training.shared_runs`  `scores_by_training`: scores from shared training runs
`cgscore.training.theory`       theorem 1 and kernel velocity
==============================  ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cgscore.errors import OptionError
from cgscore.lazy_names import lazy_names

try:
    import torch  # noqa: F401
except ImportError as error:
    raise OptionError(
        'cgscore.training needs torch, which is not installed. Run: pip install "cgscore[torch]"'
    ) from error

if TYPE_CHECKING:
    from cgscore.training.loop.inputs import Inputs
    from cgscore.training.loop.outputs import outputs
    from cgscore.training.loop.records import Records
    from cgscore.training.loop.settings import Settings
    from cgscore.training.loop.trainer import Trained, train
    from cgscore.training.networks.scale import Scale
    from cgscore.training.presets import FINE_TUNING, Preset, preset
    from cgscore.training.scores.consistency import consistency, read_consistency
    from cgscore.training.scores.craig import Craig, craig
    from cgscore.training.scores.dynamics import dynamics
    from cgscore.training.scores.el2n import el2n
    from cgscore.training.scores.feature_space import feature_space_scores
    from cgscore.training.scores.forgetting import forgetting
    from cgscore.training.scores.grand import grand, grand_last_layer
    from cgscore.training.scores.tables import SIGNS, keep, random_score, score_table
    from cgscore.training.scores.tracin import self_influence, tracin
    from cgscore.training.shared_runs import scores_by_training
    from cgscore.training.theory.theorem_1 import check_theorem
    from cgscore.training.theory.velocity import (
        kernel_velocity,
        tangent_kernel,
        two_layer_velocity,
        velocity_groups,
    )

_HOMES = {
    "FINE_TUNING": "presets",
    "SIGNS": "scores.tables",
    "Craig": "scores.craig",
    "Inputs": "loop.inputs",
    "Preset": "presets",
    "Records": "loop.records",
    "Scale": "networks.scale",
    "Settings": "loop.settings",
    "Trained": "loop.trainer",
    "check_theorem": "theory.theorem_1",
    "consistency": "scores.consistency",
    "craig": "scores.craig",
    "dynamics": "scores.dynamics",
    "el2n": "scores.el2n",
    "feature_space_scores": "scores.feature_space",
    "forgetting": "scores.forgetting",
    "grand": "scores.grand",
    "grand_last_layer": "scores.grand",
    "keep": "scores.tables",
    "kernel_velocity": "theory.velocity",
    "outputs": "loop.outputs",
    "preset": "presets",
    "random_score": "scores.tables",
    "read_consistency": "scores.consistency",
    "score_table": "scores.tables",
    "scores_by_training": "shared_runs",
    "self_influence": "scores.tracin",
    "tangent_kernel": "theory.velocity",
    "tracin": "scores.tracin",
    "train": "loop.trainer",
    "two_layer_velocity": "theory.velocity",
    "velocity_groups": "theory.velocity",
}

__all__ = [
    "FINE_TUNING",
    "SIGNS",
    "Craig",
    "Inputs",
    "Preset",
    "Records",
    "Scale",
    "Settings",
    "Trained",
    "check_theorem",
    "consistency",
    "craig",
    "dynamics",
    "el2n",
    "feature_space_scores",
    "forgetting",
    "grand",
    "grand_last_layer",
    "keep",
    "kernel_velocity",
    "outputs",
    "preset",
    "random_score",
    "read_consistency",
    "score_table",
    "scores_by_training",
    "self_influence",
    "tangent_kernel",
    "tracin",
    "train",
    "two_layer_velocity",
    "velocity_groups",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
