"""Networks, their training, and what it tells about examples; everything here needs torch.

=======================================  ==========================================================
module                                   holds
=======================================  ==========================================================
`cgscore.training.models`                ResNets and DenseNet for small images
`cgscore.training.networks.vit`          a pretrained Vision Transformer
`cgscore.training.theory.two_layer`      the two-layer network of the theory, and its kernel
`cgscore.training.loop.presets`          settings: the paper's, and ones for a desk
`cgscore.training.loop.inputs`           examples as a network sees them
`cgscore.training.loop.augmentation`     shifted and mirrored images
`cgscore.training.loop.trainer`          `train`
`cgscore.training.loop.schedule`         steps, their learning rates, examples and seeds
`cgscore.training.loop.run`              what happens in a step and after an epoch
`cgscore.training.loop.evaluation`       loss, correctness and probabilities of every example
`cgscore.training.loop.records`          the same after every epoch, in a file
`cgscore.training.loop.folder`           what an interrupted training goes on from
`cgscore.training.loop.checkpoints`      networks at moments of their training
`cgscore.training.loop.outputs`          features and probabilities of every example
`cgscore.training.scores.residuals`      what probabilities lack of the labels
`cgscore.training.scores.el2n`           EL2N, the norm of the error
`cgscore.training.scores.grand`          GraNd, the norm of the gradient
`cgscore.training.theory.tangent`        gradients of single examples
`cgscore.training.scores.forgetting`     forgetting events
`cgscore.training.scores.tracin`         TracIn and self-influence
`cgscore.training.scores.consistency`    C-scores, and the published ones
`cgscore.training.scores.craig`          CRAIG, a weighted subset
`cgscore.training.scores.reselection`    subsets chosen anew while a network is trained
`cgscore.training.scores.feature_space`  the CG-score of features
`cgscore.training.scores.together`       `scores_by_training`: all of them, from shared runs
`cgscore.training.scores.tables`         scores of any origin in one table
`cgscore.training.scores.levels`         equal groups by a score
`cgscore.training.scores.dynamics`       loss and accuracy by levels of a score
`cgscore.training.theory.velocity`       how fast tangent kernels turn
`cgscore.training.theory.theorem_1`      theorem 1 on networks that are really trained
=======================================  ==========================================================
"""

from __future__ import annotations

from cgscore.errors import OptionError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise OptionError(
        'cgscore.training needs torch, which is not installed. Run: pip install "cgscore[torch]"'
    ) from error
