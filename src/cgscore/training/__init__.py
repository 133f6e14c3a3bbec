"""Networks, their training, and what it tells about examples; everything here needs torch.

==================================  ============================================================
module                              holds
==================================  ============================================================
`cgscore.training.models`           ResNets and DenseNet for small images
`cgscore.training.vit`              a pretrained Vision Transformer
`cgscore.training.two_layer`        the two-layer network of the theory, and its kernel
`cgscore.training.presets`          settings: the paper's, and ones for a desk
`cgscore.training.inputs`           examples as a network sees them
`cgscore.training.augmentation`     shifted and mirrored images
`cgscore.training.trainer`          `train`
`cgscore.training.schedule`         steps, their learning rates, examples and seeds
`cgscore.training.run`              what happens in a step and after an epoch
`cgscore.training.evaluation`       loss, correctness and probabilities of every example
`cgscore.training.records`          the same after every epoch, in a file
`cgscore.training.folder`           what an interrupted training goes on from
`cgscore.training.checkpoints`      networks at moments of their training
`cgscore.training.outputs`          features and probabilities of every example
`cgscore.training.residuals`        what probabilities lack of the labels
`cgscore.training.el2n`             EL2N, the norm of the error
`cgscore.training.grand`            GraNd, the norm of the gradient
`cgscore.training.tangent`          gradients of single examples
`cgscore.training.forgetting`       forgetting events
`cgscore.training.tracin`           TracIn and self-influence
`cgscore.training.consistency`      C-scores, and the published ones
`cgscore.training.craig`            CRAIG, a weighted subset
`cgscore.training.reselection`      subsets chosen anew while a network is trained
`cgscore.training.feature_space`    the CG-score of features
`cgscore.training.scores`           `scores_by_training`: all of them, from shared trainings
`cgscore.training.tables`           scores of any origin in one table
`cgscore.training.levels`           equal groups by a score
`cgscore.training.dynamics`         loss and accuracy by levels of a score
`cgscore.training.velocity`         how fast tangent kernels turn
`cgscore.training.theory`           theorem 1 on networks that are really trained
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
