"""pyarrow in this process, every value touched: all batches of ParquetFile.iter_batches, or the first of a dataset's to_batches."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from loop import Loop

from touch import Sums


def batches(loop: Loop) -> Iterator[pa.RecordBatch]:
    if loop.mode == "first":
        yield from ds.dataset(loop.path, format="parquet").to_batches()
    for path in loop.files():
        with pq.ParquetFile(path, pre_buffer=False) as file:
            yield from file.iter_batches(use_threads=loop.threads > 1)


def main() -> None:
    loop = Loop.from_args()
    pa.set_cpu_count(loop.threads)
    sums = Sums()
    for batch in batches(loop):
        sums.add(batch)
        loop.took(batch.num_rows)
        if loop.mode == "first":
            break
    loop.ints, loop.floats, loop.text_bytes = sums.ints, sums.floats, sums.text_bytes
    loop.tell(loop.cost())


main()
