"""Scores for other libraries. Each module needs its library only when it is used.

========================================  ======================================================
module                                    for
========================================  ======================================================
`cgscore.adapters.sklearn`                scikit-learn: `CGScorer`, `CGResampler` (imbalanced-learn)
`cgscore.adapters.torch`                  torch and Lightning: subsets, loaders, weighted samplers
`cgscore.adapters.hugging_face`           Hugging Face datasets: scores as columns
`cgscore.adapters.cleanlab`               cleanlab: class probabilities; an issue type of Datalab
`cgscore.adapters.pydvl`                  pyDVL: a `ValuationResult`
`cgscore.adapters.mlflow`                 MLflow: parameters, metrics and files of a run
========================================  ======================================================
"""
