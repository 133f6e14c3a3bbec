"""Ways to score: one file for each method behind one contract, and `auto` to choose.

A method states its name, the options it takes and what it costs, and runs: see `method.Method`. A
new one is a file here and a line in `METHODS`; `cgscore.score`, the command line, ``cgscore info``
and the table in ``docs/methods.md`` follow from it.
"""

from __future__ import annotations

from cgscore.methods.exact import Exact
from cgscore.methods.iterative import Iterative
from cgscore.methods.method import Context, Method
from cgscore.methods.options import Options
from cgscore.methods.partition import Partition
from cgscore.methods.subsample import Subsample

#: Every method by its name, in the order in which they are described.
METHODS: dict[str, Method] = {
    method.name: method for method in (Exact(), Iterative(), Subsample(), Partition())
}

__all__ = ["METHODS", "Context", "Method", "Options"]
