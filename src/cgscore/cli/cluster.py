"""The Dask cluster that the flags of ``cgscore score`` name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgscore.cli.console import one_line
from cgscore.errors import OptionError

if TYPE_CHECKING:
    from rich.console import Console


def check_cluster_options(
    cluster: str | None, scheduler_file: Path | None, workers: int | None
) -> None:
    """Raise `OptionError` if more than one cluster is named."""
    if sum(option is not None for option in (cluster, scheduler_file, workers)) > 1:
        raise OptionError("Give one of --cluster, --scheduler-file and --workers, not several.")


@contextmanager
def cluster_client(
    cluster: str | None,
    scheduler_file: Path | None,
    workers: int | None,
    *,
    console: Console | None,
) -> Iterator[Any]:
    """A Dask client of the cluster that is named, or None if none is.

    Parameters
    ----------
    cluster : str or None
        Address of a scheduler.
    scheduler_file : Path or None
        File with the address of a scheduler.
    workers : int or None
        Number of local workers to start.
    console : Console or None
        Where to print the number of workers and the address; None prints nothing.
    """
    if cluster is None and scheduler_file is None and workers is None:
        yield None
        return
    try:
        from cgscore.execution.dask import connected
    except ModuleNotFoundError as error:
        raise OptionError(
            'Clusters need dask.distributed. Install it: pip install "cgscore[dask]"'
        ) from error
    file = None if scheduler_file is None else str(scheduler_file)
    with connected(cluster, file, workers) as client:
        if console is not None:
            scheduler = client.scheduler_info(n_workers=-1)
            text = f"{len(scheduler['workers'])} workers at {scheduler['address']}"
            console.print(f"cluster   {one_line(text)}")
        yield client
