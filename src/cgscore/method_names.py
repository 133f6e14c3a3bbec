"""The methods by name, for those who must not import them: help texts, saved results."""

from __future__ import annotations

#: Every method by its name, which is that of its module, with a few words about it.
SUMMARIES = {
    "exact": "factorises the whole kernel matrix, in memory or on disk",
    "iterative": "nearly exact at a fraction of the cost, with an audit",
    "subsample": "the paper's estimator, each class against samples of the others",
    "lowrank": "landmarks stand for all examples, for judging labels at any size",
    "partition": "random blocks, for data that fit nowhere else",
}
