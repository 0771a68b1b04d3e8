"""pyarrow: dataset.to_batches, every value touched."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.dataset as ds

from peers.job import Job
from touch import Sums


def main() -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    sums = Sums()
    for batch in ds.dataset(job.path, format="parquet").to_batches(use_threads=job.threads > 1):
        sums.add(batch)
    job.done(sums.rows, sums.ints, sums.floats, sums.text_bytes)


main()
