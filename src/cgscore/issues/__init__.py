"""Label issues: which labels are probably wrong, and why.

================  ==============================================================
module            content
================  ==============================================================
`noise_model`     how labels go wrong, estimated from predictions and labels
`anchors`         the examples from which that is estimated
`noise_matrix`    the probabilities of given labels for each true class
`calibration`     class probabilities from leave-one-out predictions
`border`          wrong labels that follow the borders between classes
`verdicts`        the probability that each label is right; which are flagged
`judged`          verdicts in place of predictions that are not kept
`intervals`       confidence intervals
`table`           verdicts as a table, with the paper's detectors
`summary`         the estimated number of wrong labels, in all and by class
`neighbours`      the similar examples that a suspected label is judged by
================  ==============================================================
"""
