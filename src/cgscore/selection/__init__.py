"""Which examples to keep.

===============  ===============================================================
module           content
===============  ===============================================================
`orders`         the orders in which examples are removed: a registry
`quotas`         how many examples each class keeps
`pool`           the examples among which a result chooses
`window`         where a window should start, by kernel regression
`greedy`         a ranking: the example that lowers the error most, next
`selector`       features, ranking, weights and expectation of scored examples
`weights`        how many examples each kept one stands for
`expectation`    what a choice is expected to cost in accuracy
`label_next`     which unlabelled examples to label next
`export`         a copy of the source with the examples that stay
===============  ===============================================================
"""
