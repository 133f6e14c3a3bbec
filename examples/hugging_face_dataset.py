"""Scores as new columns of a Hugging Face dataset, loaded whole or streamed.

Needs datasets: pip install datasets
"""

import numpy as np
from datasets import ClassLabel, Dataset, Features, Sequence, Value
from sklearn.datasets import load_digits

import cgscore
from cgscore.adapters.hugging_face import with_scores

X, y = load_digits(return_X_y=True)
y[::25] = (y[::25] + 1) % 10  # every 25th label is wrong
features = Features(
    pixels=Sequence(Value("float64")), label=ClassLabel(names=[f"digit {d}" for d in range(10)])
)
data = Dataset.from_dict({"pixels": X.tolist(), "label": y.tolist()}, features=features)

scores = cgscore.score(data, ridge="auto")
scored = with_scores(data, scores)
print(scored)
clean = scored.filter(lambda row: not row["is_label_issue"])
found = np.flatnonzero(scored["is_label_issue"])
print(f"{len(found)} suspects, {np.sum(found % 25 == 0)} of {len(y[::25])} wrong labels among them")
print(f"{len(clean)} rows left")

stream = data.to_iterable_dataset()
first = next(iter(with_scores(stream, cgscore.score(stream, ridge="auto"), ("cg", "label_score"))))
print({name: first[name] for name in ("label", "cg", "label_score")})
