"""pyarrow, pandas and scikit-learn in batches: partial_fit on the rows of train, then transform and write, a writer a split.

Batches have the 65,536 rows that iter_batches gives by default. Twice that took 130 MiB more, for CPU time that could not be told from
noise with dictionaries and a little less without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.preprocessing import StandardScaler

from peers.job import Job
from peers.splits import FEATURES, SEED, SPLITS, Masks, masks


def frames(job: Job, columns: list[str] | None) -> Iterator[tuple[pd.DataFrame, Masks]]:
    """The dataset, batch by batch, with the splits of its rows."""
    rng = np.random.default_rng(SEED)
    for path in job.files("*.parquet"):
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(columns=columns, use_threads=job.threads > 1):
                yield batch.to_pandas(), masks(rng, batch.num_rows)


def main(dictionaries: bool | list[str]) -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    scaler = StandardScaler()
    for frame, split in frames(job, FEATURES):
        scaler.partial_fit(frame.to_numpy()[split["train"]])
    schema = pq.read_schema(job.files("*.parquet")[0])
    with ExitStack() as stack:
        writers = {}
        for name in SPLITS:
            Path(job.target, name).mkdir()
            writer = pq.ParquetWriter(f"{job.target}/{name}/part.parquet", schema, compression=job.codec, use_dictionary=dictionaries)
            writers[name] = stack.enter_context(writer)
        for frame, split in frames(job, None):
            frame[FEATURES] = scaler.transform(frame[FEATURES].to_numpy())
            for name, mask in split.items():
                writers[name].write_table(pa.Table.from_pandas(frame[mask], schema, preserve_index=False))
    job.prepared(dict(zip(FEATURES, zip(scaler.mean_, scaler.scale_, strict=True), strict=True)))


if __name__ == "__main__":
    main(True)
