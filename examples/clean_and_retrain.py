"""Clean a dataset and train again: test accuracy before, after dropping and after correcting."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import cgscore

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
rng = np.random.default_rng(0)
wrong = rng.choice(len(y_train), round(0.3 * len(y_train)), replace=False)
noisy = y_train.copy()
noisy[wrong] = (noisy[wrong] + 1) % 10  # 30 % of the labels, each to the next class

scores = cgscore.score(X_train, noisy, ridge="auto")
issues = scores.label_issues()
kept = scores.keep(1.0, drop_issues=True)
corrected = np.where(issues["is_label_issue"], issues["predicted_label"], noisy)

for name, inputs, labels in (
    ("as it came, 30 % of the labels wrong", X_train, noisy),
    ("suspects dropped", X_train[kept], noisy[kept]),
    ("suspects corrected", X_train, corrected),
    ("with the true labels", X_train, y_train),
):
    accuracy = SVC().fit(inputs, labels).score(X_test, y_test)
    print(f"{name:<38} test accuracy {accuracy:.3f}")
print(f"labels wrong before {np.sum(noisy != y_train)}, after {np.sum(corrected != y_train)}")
