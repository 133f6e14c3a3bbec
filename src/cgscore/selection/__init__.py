"""Which examples to keep.

===============  ===============================================================
module           content
===============  ===============================================================
`orders`         the orders in which examples are removed: a registry
`quotas`         how many examples each class keeps
`pool`           the examples among which a result chooses
`window`         where a window should start, by kernel regression
`export`         a copy of the source with the examples that stay
`image_links`    the same for a folder of images
===============  ===============================================================
"""
