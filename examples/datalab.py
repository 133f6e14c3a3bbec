"""cleanlab with our leave-one-out predictions: its own label issues, and the type ``cg_score``.

Needs cleanlab: pip install "cleanlab[datalab]"
"""

import numpy as np
from cleanlab import Datalab
from cleanlab.filter import find_label_issues
from sklearn.datasets import load_digits

import cgscore
from cgscore.adapters.cleanlab import labels, pred_probs

X, y = load_digits(return_X_y=True)
wrong = np.arange(len(y)) % 20 == 0
y[wrong] = (y[wrong] + 1) % 10

scores = cgscore.score(X, y, ridge="auto")
theirs = find_label_issues(labels(scores), pred_probs(scores))  # no model was trained
print(f"cleanlab on our probabilities: {theirs.sum()} issues, {(theirs & wrong).sum()} wrong")

lab = Datalab({"digit": y}, label_name="digit")
lab.find_issues(pred_probs=pred_probs(scores), issue_types={"label": {}})
lab.find_issues(issue_types={"cg_score": {"scores": scores}})
print(lab.get_issue_summary().to_string(index=False))
ours = lab.get_issues("cg_score")["is_cg_score_issue"].to_numpy()
print(f"issue type cg_score: {ours.sum()} issues, {(ours & wrong).sum()} wrong of {wrong.sum()}")
