"""Polars: scan_parquet to sink_parquet on the streaming engine.

zstd at level 1, which is pyarrow's default and cheaper than Polars' own.
"""

from __future__ import annotations

import polars as pl

from peers.job import GROUP, Job


def main() -> None:
    job = Job.from_args()
    level = 1 if job.codec == "zstd" else None
    rows = pl.scan_parquet(f"{job.path}/*")
    rows.sink_parquet(f"{job.target}/out.parquet", compression=job.codec, compression_level=level, row_group_size=GROUP, engine="streaming")
    job.done()


main()
