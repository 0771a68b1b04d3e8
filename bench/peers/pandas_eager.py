"""pandas and scikit-learn with everything in memory: read_parquet, fit on train, transform, to_parquet of each split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.preprocessing import StandardScaler

from peers.job import Job
from peers.splits import FEATURES, SEED, masks


def main(dictionaries: bool | list[str]) -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    frame = pd.read_parquet(job.path, use_threads=job.threads > 1)
    split = masks(np.random.default_rng(SEED), len(frame))
    scaler = StandardScaler().fit(frame.loc[split["train"], FEATURES])
    frame[FEATURES] = scaler.transform(frame[FEATURES])
    for name, mask in split.items():
        Path(job.target, name).mkdir()
        frame[mask].to_parquet(f"{job.target}/{name}/part.parquet", compression=job.codec, index=False, use_dictionary=dictionaries)
    job.prepared(dict(zip(FEATURES, zip(scaler.mean_, scaler.scale_, strict=True), strict=True)))


if __name__ == "__main__":
    main(True)
