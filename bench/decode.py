"""Decoding of images against a plain loop of Pillow in two processes, measured in one run.

    python bench/decode.py ../shared/data/cifar10/train.parquet

Both sides start from the Parquet file and end with one array of pixels. The plain side reads the
whole column and gives half of it to each of two processes. Each side runs twice, alternating, and
the better time counts. Memory is the peak of the reading process above what it held before, after
a first small read has loaded the libraries and started the workers.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq
from PIL import Image

import cgscore
from cgscore.execution.machine import peak_memory
from cgscore_paper.background_process import require_quiet


def decode(contents: list[bytes]) -> Any:
    pixels = []
    for content in contents:
        with Image.open(io.BytesIO(content)) as image:
            pixels.append(np.asarray(image.convert("RGB")))
    return np.stack(pixels)


def plain(path: Path) -> Any:
    """What a careful person writes in ten lines."""
    column = pq.read_table(path, columns=["img"]).column("img").combine_chunks()
    contents = column.field("bytes").to_pylist()
    half = len(contents) // 2
    with ProcessPoolExecutor(2) as pool:
        return np.concatenate(list(pool.map(decode, [contents[:half], contents[half:]])))


def timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main() -> None:
    path = Path(sys.argv[1])
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.parquet"
        pq.write_table(
            pq.ParquetFile(path).read_row_group(0).slice(0, 2200), small, row_group_size=500
        )
        cgscore.read(small, progress=False)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = process.memory_info().rss
    ours, data = timed(lambda: cgscore.read(path, progress=False))
    memory = (peak_memory() - before) / data.X.nbytes
    theirs, pixels = timed(lambda: plain(path))
    ours = min(ours, timed(lambda: cgscore.read(path, progress=False))[0])
    theirs = min(theirs, timed(lambda: plain(path))[0])
    assert (pixels == data.X).all()
    print(f"{len(data):,} images of {data.X.shape[2]} x {data.X.shape[1]} pixels")
    print(f"  cgscore.read            {ours:6.2f} s")
    print(
        f"  Pillow in two processes {theirs:6.2f} s   ours takes {ours / theirs:.2f}x that (aim 2)"
    )
    print(f"  peak memory             {memory:6.2f}     x the decoded array (aim 1.2)")


if __name__ == "__main__":
    require_quiet()
    main()
