"""The card of a Hugging Face dataset that was exported: what its columns mean.

Nothing of the data enters it but counts and the fingerprint: names of classes and files come from
strangers, and paths are nobody's business.
"""

from __future__ import annotations

import cgscore
from cgscore.exchange.examples import Examples

CARD = "README.md"

_TEXT = """---
tags:
- cgscore
- label-errors
---

# Labels scored by cgscore

{count:,} examples{classes}; {suspects:,} labels look wrong. Written by cgscore {version}.

| column | what it is |
|---|---|
| `label` | the label as it was given |
| `suggested_label` | what the other examples say it is |
| `corrected_label` | empty: fill it in where a label is to be kept or changed |
| `confidence` | in the suggestion, from 0 to 1 |
| `label_score` | probability that the given label is right |
| `cg` | the CG-score: high for examples that matter, and for wrong labels |
| `is_label_issue` | whether the label is flagged |
| `reason` | why, in a sentence |
| `cgscore_position`, `cgscore_id`, `cgscore_stamp` | which example, of which data: keep them |

Fill in `corrected_label` of the flagged rows and save the dataset:

```python
from datasets import load_from_disk

dataset = load_from_disk("FOLDER")
corrected = dataset.map(
    lambda row: {{"corrected_label": row["suggested_label"] if row["is_label_issue"] else None}}
)
corrected.save_to_disk("corrected")
```

Then take the corrections back: `cgscore import scores.parquet corrected`. The data have the
fingerprint `{fingerprint}`.
"""


def card(examples: Examples) -> str:
    """The card, in Markdown."""
    k = len(examples.scores.classes)
    return _TEXT.format(
        count=len(examples),
        classes=f" in {k:,} classes" if k else "",
        suspects=examples.suspects,
        version=cgscore.__version__,
        fingerprint=examples.scores.meta["fingerprint"],
    )
