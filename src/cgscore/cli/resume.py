"""What is printed where work with a checkpoint is interrupted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cgscore.cli.console import print_error


@contextmanager
def how_to_resume(checkpoint: Path | None) -> Iterator[None]:
    """Print how to resume if the work inside is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is None:
            print_error("With --checkpoint FOLDER an interrupted run can be resumed.")
        else:
            print_error(
                f"Finished work is in {checkpoint}. To resume, run the same command again:\n"
                f"  {shlex.join(['cgscore', *sys.argv[1:]])}"
            )
        raise
