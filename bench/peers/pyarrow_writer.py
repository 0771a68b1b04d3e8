"""pyarrow: batches from iter_batches to a ParquetWriter, a row group each; without dictionaries, as in pyarrow_table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from peers.job import GROUP, Job


def main() -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    (path,) = job.files("*.parquet")
    with (
        pq.ParquetFile(path, pre_buffer=False) as file,
        pq.ParquetWriter(f"{job.target}/out.parquet", file.schema_arrow, compression=job.codec, use_dictionary=False) as out,
    ):
        for batch in file.iter_batches(GROUP, use_threads=job.threads > 1):
            out.write_batch(batch, row_group_size=GROUP)
    job.done()


main()
