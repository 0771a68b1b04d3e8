"""Polars: the second pass alone, without splits; the means and deviations of all rows are known before the clock starts."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from peers.job import GROUP, Job
from peers.polars_prepare import fitted, scaled


def main() -> None:
    rows = pl.scan_parquet(f"{sys.argv[1]}/*")
    params = fitted(rows)
    job = Job.from_args()
    folder = Path(job.target, "all")
    folder.mkdir()
    scaled(rows, params).sink_parquet(folder / "part.parquet", compression=job.codec, row_group_size=GROUP, engine="streaming")
    job.prepared(params)


main()
