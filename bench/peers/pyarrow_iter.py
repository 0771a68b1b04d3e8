"""pyarrow: ParquetFile.iter_batches, file after file, every value touched.

Without pre_buffer, which is on by default and reads the whole file ahead: on the numeric data that is slower and takes three times the
memory, on the texts the times were too close to tell.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from peers.job import Job
from touch import Sums


def main() -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    sums = Sums()
    for part in job.files("*.parquet"):
        with pq.ParquetFile(part, pre_buffer=False) as file:
            for batch in file.iter_batches(use_threads=job.threads > 1):
                sums.add(batch)
    job.done(sums.rows, sums.ints, sums.floats, sums.text_bytes)


main()
