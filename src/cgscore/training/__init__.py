"""Networks, their training, and what it tells about examples; everything here needs torch.

==================================  ============================================================
module                              holds
==================================  ============================================================
`cgscore.training.models`           ResNets and DenseNet for small images, the two-layer network
`cgscore.training.vit`              a pretrained Vision Transformer
`cgscore.training.presets`          settings: the paper's, and ones for a desk
`cgscore.training.inputs`           examples as a network sees them
`cgscore.training.augmentation`     shifted and mirrored images
`cgscore.training.trainer`          `train`
`cgscore.training.schedule`         steps, their learning rates, examples and seeds
`cgscore.training.run`              what happens in a step and after an epoch
`cgscore.training.evaluation`       loss, correctness and probabilities of every example
`cgscore.training.records`          the same after every epoch, in a file
`cgscore.training.folder`           what an interrupted training goes on from
==================================  ============================================================
"""

from __future__ import annotations

from cgscore.errors import OptionError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise OptionError(
        'cgscore.training needs torch, which is not installed. Run: pip install "cgscore[torch]"'
    ) from error
