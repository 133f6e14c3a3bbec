"""A folder from which an interrupted training goes on.

::

    checkpoint.json        what the training is of; a folder of anything else is refused by name
    state.pt               weights, optimiser and position, of the last finished epoch or later
    epoch-0020.pt          weights after an epoch that was asked for
    records                see `cgscore.training.records`
    lock                   held while a process works here
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from cgscore.errors import StorageError
from cgscore.execution.files import replace_file
from cgscore.solvers.checkpoint import Checkpoint


class Folder:
    """An open folder; what it holds is of exactly this work."""

    def __init__(self, path: Path, work: Mapping[str, Any]) -> None:
        self._path = path
        self._checkpoint = Checkpoint(path, work)
        for torn in path.glob(".*.part"):  # of a run that was killed while it wrote
            torn.unlink(missing_ok=True)

    @property
    def records(self) -> Path:
        """The file of the records."""
        return self._path / "records"

    def state(self) -> dict[str, Any] | None:
        """What an earlier run kept last."""
        path = self._path / "state.pt"
        return load(path) if path.exists() else None

    def keep_state(self, state: Mapping[str, Any]) -> None:
        """Replace what is kept."""
        _save(self._path / "state.pt", dict(state))

    def keep_weights(self, epoch: int, model: nn.Module) -> None:
        """Keep the weights after an epoch."""
        _save(self.weights(epoch), model.state_dict())

    def weights(self, epoch: int) -> Path:
        """The file of the weights after an epoch."""
        return self._path / f"epoch-{epoch:04d}.pt"

    def close(self) -> None:
        """Let other processes work here."""
        self._checkpoint.close()


def load(path: Path) -> dict[str, Any]:
    """What `torch.save` wrote: tensors and numbers, on the CPU, and nothing that runs."""
    try:
        found: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
        raise StorageError(
            f"{path} cannot be read: {str(error).splitlines()[0]} Remove the folder to start again."
        ) from error
    return found


def _save(path: Path, content: Mapping[str, Any]) -> None:
    whole = io.BytesIO()
    torch.save(content, whole)
    replace_file(path, lambda file: file.write(whole.getbuffer()))
