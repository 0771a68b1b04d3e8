"""pyarrow: the whole table read and written again.

Without dictionaries, which are on by default: on columns of doubles that never repeat they cost many times the rest.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from peers.job import GROUP, Job


def main() -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    table = pq.read_table(job.path, use_threads=job.threads > 1)
    pq.write_table(table, f"{job.target}/out.parquet", row_group_size=GROUP, compression=job.codec, use_dictionary=False)
    job.done()


main()
