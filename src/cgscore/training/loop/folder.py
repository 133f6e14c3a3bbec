"""A folder from which an interrupted training goes on.

::

    checkpoint.json        what the training is of; a folder of anything else is refused by name
    state.pt               weights, optimiser and position, of the last finished epoch or later
    epoch-0020.pt          weights after an epoch that was asked for
    records                see `cgscore.training.loop.records`
    lock                   held while a process works here

Files of weights are what `torch.save` writes, behind a mark, the digest of the training and a seal
for both and the file's name (`execution.sealed`); `load` reads them.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from cgscore.errors import CGScoreWarning, StorageError
from cgscore.execution.checkpoint import Checkpoint
from cgscore.execution.files import replace_file
from cgscore.execution.sealed import renewed, seal

_MARK = b"cgscore2"
_DIGEST = 32  # characters of a digest
_HEAD = len(_MARK) + _DIGEST + 8


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

    @property
    def digest(self) -> str:
        """Of the training."""
        return self._checkpoint.digest

    def state(self) -> dict[str, Any] | None:
        """What an earlier run kept last; with a warning, nothing if that is not sound."""
        path = self._path / "state.pt"
        if not path.exists():
            return None
        try:
            return load(path, self.digest)
        except StorageError:
            self.start_again(path.name)
            return None

    def start_again(self, name: str) -> None:
        """Say that a part cannot be used, and that the training begins anew."""
        warnings.warn(
            f"{renewed(f'The checkpoint {self._path}', [name])} The training begins again.",
            CGScoreWarning,
            stacklevel=2,
        )

    def keep_state(self, state: Mapping[str, Any]) -> None:
        """Replace what is kept."""
        _save(self._path / "state.pt", dict(state), self.digest)

    def keep_weights(self, epoch: int, model: nn.Module) -> None:
        """Keep the weights after an epoch."""
        _save(self.weights(epoch), model.state_dict(), self.digest)

    def weights(self, epoch: int) -> Path:
        """The file of the weights after an epoch."""
        return self._path / f"epoch-{epoch:04d}.pt"

    def close(self) -> None:
        """Let other processes work here."""
        self._checkpoint.close()


def load(path: Path, work: str | None = None) -> dict[str, Any]:
    """What `_save` wrote: tensors and numbers, on the CPU, and nothing that runs.

    Under its own name only, and only of the training with the digest `work` if that is given.
    """
    try:
        whole = path.read_bytes() if path.is_file() else b""
        head, content = whole[:_HEAD], memoryview(whole)[_HEAD:]
        digest = head[len(_MARK) : -8].decode("ascii", "replace")
        if (
            head[: len(_MARK)] != _MARK
            or digest != (work or digest)
            or int.from_bytes(head[-8:], "big") != seal(content, digest, path.name)
        ):
            raise ValueError(
                "it is damaged, renamed, of another training or of another version of cgscore."
            )
        found: dict[str, Any] = torch.load(
            io.BytesIO(content), map_location="cpu", weights_only=True
        )
    except Exception as error:  # of files and of torch, which raises many
        raise StorageError(
            f"{path} cannot be read: {str(error).splitlines()[0]} Remove the folder to start again."
        ) from error
    return found


def _save(path: Path, content: Mapping[str, Any], work: str) -> None:
    whole = io.BytesIO()
    torch.save(content, whole)
    mark = seal(whole.getbuffer(), work, path.name).to_bytes(8, "big")

    def write(file: Any) -> None:
        file.write(_MARK + work.encode() + mark)
        file.write(whole.getbuffer())

    replace_file(path, write)
