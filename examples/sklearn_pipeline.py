"""A scikit-learn pipeline that leaves suspected label errors out of what it learns from.

Needs imbalanced-learn, whose pipelines let a step drop examples: pip install imbalanced-learn
"""

import numpy as np
from imblearn.pipeline import Pipeline
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from cgscore.adapters.sklearn import CGResampler, CGScorer

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
rng = np.random.default_rng(0)
wrong = rng.choice(len(y_train), round(0.3 * len(y_train)), replace=False)
y_train[wrong] = (y_train[wrong] + 1) % 10  # 30 % of the labels, each to the next class

scorer = CGScorer(ridge="auto").fit(X_train, y_train)
print(f"highest score: example {scorer.scores_.argmax()}")
agree = np.mean(scorer.loo_predictions_ == y_train)
print(f"labels that all other examples predict: {agree:.1%}")

plain = Pipeline([("scale", MinMaxScaler()), ("model", LogisticRegression(max_iter=200))])
plain.fit(X_train, y_train)
cleaned = Pipeline(
    [
        ("scale", MinMaxScaler()),
        ("clean", CGResampler(1.0, drop_issues=True, ridge="auto")),
        ("model", LogisticRegression(max_iter=200)),
    ]
)
cleaned.fit(X_train, y_train)
dropped = np.setdiff1d(np.arange(len(y_train)), cleaned["clean"].sample_indices_)
print(f"dropped {len(dropped)}, of which {np.isin(dropped, wrong).sum()} were wrong")
before, after = plain.score(X_test, y_test), cleaned.score(X_test, y_test)
print(f"test accuracy {before:.3f} with all labels, {after:.3f} without the suspects")
