"""Polars on the streaming engine: a lazy pass for means and deviations of train, then scaled rows to a sink partitioned by split.

Splits are by a hash of the row's number. One sink partitioned by a key was faster than three, one after another or by collect_all; the
three need less memory.
"""

from __future__ import annotations

import polars as pl

from peers.job import GROUP, Job
from peers.splits import FEATURES, SEED, WEIGHTS

Params = dict[str, tuple[float, float]]

DRAWN = pl.col("row").hash(SEED) % sum(WEIGHTS.values())
TRAIN = DRAWN.lt(WEIGHTS["train"])
SPLIT = pl.when(TRAIN).then(pl.lit("train")).when(DRAWN.eq(WEIGHTS["train"])).then(pl.lit("val")).otherwise(pl.lit("test"))


def fitted(rows: pl.LazyFrame) -> Params:
    """Mean and deviation of every feature."""
    wanted = [pl.col(name).mean().alias(f"{name} mean") for name in FEATURES]
    wanted += [pl.col(name).std(ddof=0).alias(f"{name} std") for name in FEATURES]
    found = rows.select(wanted).collect(engine="streaming").row(0, named=True)
    return {name: (found[f"{name} mean"], found[f"{name} std"]) for name in FEATURES}


def scaled(rows: pl.LazyFrame, params: Params) -> pl.LazyFrame:
    return rows.with_columns((pl.col(name) - mean) / std for name, (mean, std) in params.items())


def main() -> None:
    job = Job.from_args()
    rows = pl.scan_parquet(f"{job.path}/*", row_index_name="row")
    params = fitted(rows.filter(TRAIN))
    ready = scaled(rows, params).with_columns(split=SPLIT).drop("row")
    target = pl.PartitionBy(job.target, key="split", include_key=False)
    ready.sink_parquet(target, compression=job.codec, row_group_size=GROUP, mkdir=True, engine="streaming")
    job.prepared(params)


if __name__ == "__main__":
    main()
