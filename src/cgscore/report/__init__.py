"""One self-contained page about a result: `Scores.report`, `cgscore report`.

=====================  =========================================================
module                 content
=====================  =========================================================
`page`                 the file: document, thumbnails, scripts and styles
`content`              the document that the scripts draw
`examples`             the examples in it
`charts`               the charts in it
`values`               texts and numbers as the document holds them
`informative_columns`  the columns shown of a table
`other_scores`         the comparison with other scores
=====================  =========================================================
"""

from cgscore.report.page import write

__all__ = ["write"]
