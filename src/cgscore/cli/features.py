"""``cgscore features``: write the features that an encoder computes."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cgscore.cli.console import one_line, output_console, print_json
from cgscore.cli.dataset_summary import print_dataset
from cgscore.cli.options import JsonOption, SourceArgument
from cgscore.cli.output_files import check_output
from cgscore.cli.read_flags import ReadFlags, with_read_flags
from cgscore.cli.verbosity import show_progress


@with_read_flags
def features(
    source: SourceArgument,
    read: ReadFlags,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .npz with X, y and ids.")
    ] = Path("features.npz"),
    device: Annotated[
        str, typer.Option("--device", help="Where the encoder runs: cpu, cuda or mps.")
    ] = "cpu",
    as_json: JsonOption = False,
) -> None:
    """Compute features of images or texts, and write them.

    Without --encoder, images are encoded with efficientnet-lite0, and texts with minilm or, if it
    is not installed, with tfidf.
    """
    import numpy as np

    import cgscore
    from cgscore.data.readers.npz_writer import write_arrays
    from cgscore.execution.machine import show_seconds

    check_output(output, source, read.labels, read.encoder, suffixes=(".npz",))
    read = replace(read, encoder=read.encoder or "auto")
    start = time.perf_counter()
    dataset = cgscore.read(source, device=device, progress=show_progress(), **read.keywords())
    seconds = time.perf_counter() - start
    console = output_console()
    written = write_arrays(dataset, np.arange(len(dataset)), output)
    if as_json:
        print_json(
            {
                "output": str(output),
                "source": dataset.source,
                "n": len(dataset),
                "p": dataset.shape[1],
                "encoder": dataset.options.get("encoder"),
                "scaling": dataset.options.get("scaling", "none"),
                "fingerprint": dataset.fingerprint,
                "seconds": seconds,
                "notes": dataset.notes,
            }
        )
        return
    print_dataset(console, dataset)
    console.print(f"Written:  {one_line(str(output))}, {written}, in {show_seconds(seconds)}")
    name = shlex.quote(str(output))
    if dataset.y is None:
        name += " --labels FILE"
    console.print(f"Next:     cgscore score {one_line(name)}", soft_wrap=True)
