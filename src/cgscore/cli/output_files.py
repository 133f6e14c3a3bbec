"""Output files: checked before the work whose result they are for, and written whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cgscore.errors import OptionError

if TYPE_CHECKING:
    import pandas as pd

    from cgscore.result.scores import Scores


def check_output(
    output: Path,
    *inputs: str | None,
    suffixes: tuple[str, ...] = (".parquet", ".csv"),
    flag: str = "-o",
) -> None:
    """Raise `OptionError` if an output cannot be written, or is one of the inputs.

    Parameters
    ----------
    output : Path
        The file to be written.
    *inputs : str or None
        Files that are read and must not be overwritten.
    suffixes : tuple of str
        Accepted endings of the name.
    flag : str
        By which the output was given.
    """
    if output.suffix.lower() not in suffixes:
        raise OptionError(f"{flag} {output}: expected a name that ends in {' or '.join(suffixes)}.")
    if not output.parent.is_dir():
        raise OptionError(f"{flag} {output}: the folder {output.parent} does not exist.")
    if output.is_dir():
        raise OptionError(f"{flag} {output} is a folder; expected the name of a file.")
    if not os.access(output.parent, os.W_OK):
        raise OptionError(f"{flag} {output}: the folder {output.parent} cannot be written to.")
    check_not_input(flag, output, *inputs)


def check_not_input(flag: str, output: Path, *inputs: str | None) -> None:
    """Raise `OptionError` if the output given by a flag is one of the inputs."""
    for name in inputs:
        if name is not None and output.exists() and Path(name).exists() and output.samefile(name):
            raise OptionError(f"{flag} {output} is the input itself. Choose another name.")


def saved_inputs(scores: Scores) -> tuple[str | None, ...]:
    """Files that a result was computed from, for `check_not_input`: data, labels and features."""
    options = scores.meta["read_options"]
    names = (scores.meta["source"], options.get("labels"), options.get("encoder"))
    return tuple(name if isinstance(name, str) else None for name in names)


def write_table(table: pd.DataFrame, output: Path, *, guard: bool = True) -> None:
    """Write a table without its index as .csv or .parquet, by the name of the file.

    Parameters
    ----------
    table : DataFrame
        The rows to write.
    output : Path
        Replaced as a whole.
    guard : bool
        For .csv: whether cells that a spreadsheet would take for formulas are marked as text.
    """
    from cgscore.data.csv_writer import write_csv
    from cgscore.execution.files import replace_file

    table = table.copy(deep=False)
    table.attrs = {}
    if output.suffix.lower() == ".csv":
        write_csv(table, output, guard=guard)
    else:
        replace_file(output, lambda file: table.to_parquet(file, index=False))
