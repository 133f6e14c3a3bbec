"""The result of scoring: a table with metadata, and the file it is saved in.

==============  ================================================================
module          content
==============  ================================================================
`scores`        `Scores`, which holds the table, and `load`
`table`         the table of scores from a valuation; columns by name
`source`        opening the scored data again
`extras`        CG', the approximation of CG, the accumulated error
`display`       how a result is shown at a prompt and in a notebook
`file`          saved results: writing and reading
`columns`       what the columns of a saved result must be
`schema`        what the metadata of a saved result must be
==============  ================================================================
"""

from cgscore.result.scores import Scores, load

__all__ = ["Scores", "load"]
