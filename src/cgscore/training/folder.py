"""A folder from which an interrupted training goes on.

::

    checkpoint.json        what the training is of; a folder of anything else is refused by name
    state.pt               weights, optimiser and position, of the last finished epoch or later
    epoch-0020.pt          weights after an epoch that was asked for
    records                see `cgscore.training.records`
    lock                   held while a process works here

Files of weights are what `torch.save` writes behind a mark and a checksum; `load` reads them.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import xxhash
from torch import nn

from cgscore.errors import StorageError
from cgscore.execution.files import replace_file
from cgscore.solvers.checkpoint import Checkpoint

_MARK = b"cgscore1"


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
    """What `_save` wrote: tensors and numbers, on the CPU, and nothing that runs."""
    try:
        whole = path.read_bytes()
        mark, seal, content = whole[:8], whole[8:16], whole[16:]
        if mark != _MARK or seal != xxhash.xxh3_64_digest(content):
            raise ValueError("it is damaged, or not of this version of cgscore.")
        found: dict[str, Any] = torch.load(
            io.BytesIO(content), map_location="cpu", weights_only=True
        )
    except Exception as error:  # of files and of torch, which raises many
        raise StorageError(
            f"{path} cannot be read: {str(error).splitlines()[0]} Remove the folder to start again."
        ) from error
    return found


def _save(path: Path, content: Mapping[str, Any]) -> None:
    whole = io.BytesIO()
    torch.save(content, whole)
    sealed = _MARK + xxhash.xxh3_64_digest(whole.getbuffer())

    def write(file: Any) -> None:
        file.write(sealed)
        file.write(whole.getbuffer())

    replace_file(path, write)
