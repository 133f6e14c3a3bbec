"""Train a small network on half of a torch dataset, and on all of it with suspects rarely drawn.

Needs torch: pip install "cgscore[torch]"
"""

from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import cgscore
from cgscore.adapters.torch import subset, weighted_sampler

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
inputs, labels = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
labels[:1200:6] = (labels[:1200:6] + 1) % 10  # every sixth label is wrong
train, test = TensorDataset(inputs[:1200], labels[:1200]), (inputs[1200:], labels[1200:])


def accuracy_after_training(loader: DataLoader[Any]) -> float:
    """Test accuracy of a network trained for 200 steps."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
    steps = 0
    while steps < 200:
        for batch, targets in loader:
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(network(batch), targets)
            torch.autograd.backward(loss)
            optimiser.step()
            steps += 1
    with torch.no_grad():
        return float((network(test[0]).argmax(1) == test[1]).float().mean())


scores = cgscore.score(train, ridge="auto")  # a dataset of torch, as it is
print(scores)

kept = scores.keep(0.5, "window", drop_issues=True)
loaders = {
    "all examples": DataLoader(train, batch_size=64, shuffle=True),
    "half, a window without suspects": DataLoader(subset(train, kept), batch_size=64, shuffle=True),
    "all, drawn by how likely the label is right": DataLoader(
        train, batch_size=64, sampler=weighted_sampler(scores, seed=0)
    ),
}
for name, loader in loaders.items():
    print(f"{name:<45} test accuracy {accuracy_after_training(loader):.3f}")
wrong = np.arange(1200) % 6 == 0
print(f"wrong labels among the half that was kept: {wrong[kept].sum()} of {len(kept)}")
