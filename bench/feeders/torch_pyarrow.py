"""A DataLoader over an IterableDataset that reads Parquet with pyarrow: as most people write it, a batch of the model at a time, or
"tuned", a large batch at a time that is made a matrix once and then cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from matrix import BATCH, FEATURES, LABEL, MatrixLoop
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

Pair = tuple[torch.Tensor, torch.Tensor]
LARGE = 64 * BATCH


def pair(rows: pa.RecordBatch) -> Pair:
    matrix = np.empty((rows.num_rows, len(FEATURES)), np.float32)
    for i, name in enumerate(FEATURES):
        matrix[:, i] = rows.column(name).to_numpy()
    return torch.from_numpy(matrix), torch.from_numpy(rows.column(LABEL).to_numpy().copy())


class Rows(IterableDataset):
    """The row groups of all files, every k-th of them for each of k workers."""

    def __init__(self, files: list[str], tuned: bool, threads: int) -> None:
        self.files, self.tuned, self.threads = files, tuned, threads

    def __iter__(self) -> Iterator[Pair]:
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for path in self.files:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                groups = list(range(first, file.num_row_groups, step))
                size = LARGE if self.tuned else BATCH
                threads = self.threads > 1 and not worker
                for rows in file.iter_batches(size, row_groups=groups, columns=[*FEATURES, LABEL], use_threads=threads):
                    x, y = pair(rows)
                    yield from zip(x.split(BATCH), y.split(BATCH), strict=True)


def main() -> None:
    loop = MatrixLoop.from_args()
    workers, tuned = int(loop.arguments[0]), "tuned" in loop.arguments
    pa.set_cpu_count(loop.threads)
    for x, y in DataLoader(Rows(loop.files(), tuned, loop.threads), batch_size=None, num_workers=workers):
        loop.add(x, y)
    loop.tell(loop.cost())


main()
