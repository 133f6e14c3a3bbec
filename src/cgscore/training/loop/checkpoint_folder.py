"""The folder from which an interrupted training resumes.

::

    checkpoint.json        identity of the training; the folder of any other training is refused
    state.pt               weights, optimiser and step, at the last finished epoch or later
    epoch-0020.pt          weights after an epoch listed in ``keep``
    records                see `cgscore.training.loop.records`
    lock                   held while a process works here

A ``.pt`` file is a mark, the digest of the training, a seal over content, digest and file name
(`execution.sealed`), and what `torch.save` writes. `load_state` reads it.
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
from cgscore.execution.sealed import LENGTH, renewed, seal

_MARK = b"cgscore2"
_DIGEST_LENGTH = 32
_HEAD_LENGTH = len(_MARK) + _DIGEST_LENGTH + LENGTH


class CheckpointFolder:
    """An open folder that belongs to exactly one training.

    Parameters
    ----------
    path : Path
        The folder; it is created if it does not exist.
    work : mapping
        Identity of the training.
    """

    def __init__(self, path: Path, work: Mapping[str, Any]) -> None:
        self._path = path
        self._checkpoint = Checkpoint(path, work)
        for partial_file in path.glob(".*.part"):  # of a run that was killed while writing
            partial_file.unlink(missing_ok=True)

    @property
    def records(self) -> Path:
        """The file of the records."""
        return self._path / "records"

    @property
    def digest(self) -> str:
        """Digest of the training."""
        return self._checkpoint.digest

    def state(self) -> dict[str, Any] | None:
        """The last state an earlier run saved; None, with a warning, if it is damaged."""
        path = self._path / "state.pt"
        if not path.exists():
            return None
        try:
            return load_state(path, self.digest)
        except StorageError:
            self.warn_restart(path.name)
            return None

    def warn_restart(self, name: str) -> None:
        """Warn that a file cannot be used and that the training starts again."""
        warnings.warn(
            f"{renewed(f'The checkpoint {self._path}', [name])} The training starts again.",
            CGScoreWarning,
            stacklevel=2,
        )

    def save_state(self, state: Mapping[str, Any]) -> None:
        """Replace the saved state."""
        _save_state(self._path / "state.pt", dict(state), self.digest)

    def save_weights(self, epoch: int, model: nn.Module) -> None:
        """Save the weights after an epoch."""
        _save_state(self.weights(epoch), model.state_dict(), self.digest)

    def weights(self, epoch: int) -> Path:
        """The file of the weights after an epoch."""
        return self._path / f"epoch-{epoch:04d}.pt"

    def close(self) -> None:
        """Release the folder for other processes."""
        self._checkpoint.close()


def load_state(path: Path, work: str | None = None) -> dict[str, Any]:
    """Content of a ``.pt`` file: tensors on the CPU and numbers; no code is run.

    Parameters
    ----------
    path : Path
        The file, under the name it was written with.
    work : str, optional
        Digest of the training it must belong to.

    Raises
    ------
    StorageError
        The file cannot be read, is damaged or renamed, or belongs to another training.
    """
    try:
        raw = path.read_bytes() if path.is_file() else b""
        head, content = raw[:_HEAD_LENGTH], memoryview(raw)[_HEAD_LENGTH:]
        digest = head[len(_MARK) : -LENGTH].decode("ascii", "replace")
        if (
            head[: len(_MARK)] != _MARK
            or digest != (work or digest)
            or int.from_bytes(head[-LENGTH:], "big") != seal(content, digest, path.name)
        ):
            raise ValueError(
                "it is damaged, renamed, of another training or of another version of cgscore."
            )
        state: dict[str, Any] = torch.load(
            io.BytesIO(content), map_location="cpu", weights_only=True
        )
    except Exception as error:  # torch.load raises many types
        raise StorageError(
            f"{path} cannot be read: {str(error).splitlines()[0]} Remove the folder to start again."
        ) from error
    return state


def _save_state(path: Path, state: Mapping[str, Any], work: str) -> None:
    content = io.BytesIO()
    torch.save(state, content)
    stamp = seal(content.getbuffer(), work, path.name).to_bytes(LENGTH, "big")

    def write(file: Any) -> None:
        file.write(_MARK + work.encode() + stamp)
        file.write(content.getbuffer())

    replace_file(path, write)
