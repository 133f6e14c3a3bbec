"""One self-contained page about a result: `Scores.report`, `cgscore report`.

=====================  =========================================================
module                 content
=====================  =========================================================
`page`                 the file: document, pictures, scripts and styles
`inline`               the same inside a notebook
`content`              the document that the scripts draw
`next_steps`           what to do after the verdict
`examples`             the suspects and the extremes of classes
`groups`               groups of identical and nearly identical examples
`example_map`          two coordinates of every example, from the kernel
`charts`               the charts in it
`pictures`             pictures as data addresses
`values`               texts and numbers as the document holds them
`informative_columns`  the columns shown of a table
`column_fit`           which class the values in them speak for
`other_scores`         the comparison with other scores
=====================  =========================================================

``design.css`` is the design that report and review share.
"""

from cgscore.report.inline import InlineReport
from cgscore.report.page import write

__all__ = ["InlineReport", "write"]
