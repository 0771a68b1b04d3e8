"""Ray Data: batches of columns as NumPy arrays or as tensors, made a matrix here; shuffled by its local buffer of 10,000 rows.

Its processes have been started and have done a little work before the clock runs.
"""

from __future__ import annotations

import logging
import os
import tempfile

import numpy as np
import ray
import torch
from matrix import BATCH, BUFFER, FEATURES, LABEL, SEED, MatrixLoop, stacked


def run(loop: MatrixLoop) -> None:
    rows = ray.data.read_parquet(loop.files(), columns=[*FEATURES, LABEL])
    options = {"batch_size": BATCH}
    if loop.shuffled:
        options |= {"local_shuffle_buffer_size": BUFFER, "local_shuffle_seed": SEED}
    if "torch" in loop.arguments:
        types = dict.fromkeys(FEATURES, torch.float32) | {LABEL: torch.int64}
        for batch in rows.iter_torch_batches(dtypes=types, **options):
            loop.add(*stacked(batch))
    else:
        for batch in rows.iter_batches(batch_format="numpy", **options):
            x = np.stack([batch[name] for name in FEATURES], axis=1, dtype=np.float32, casting="same_kind")
            loop.add(torch.from_numpy(x), torch.from_numpy(batch[LABEL]))


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:  # short, since its sockets are there
        ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, _temp_dir=folder)
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            ray.data.range(64).map_batches(lambda batch: batch).materialize()
            loop = MatrixLoop.from_args()
            run(loop)
            loop.tell(loop.cost())
        finally:
            ray.shutdown()


main()
