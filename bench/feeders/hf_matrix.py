"""HF datasets, streaming, in torch's format: cut into batches by `iter` or by `batch`; shuffled by its buffer of 10,000 rows.

Some versions sleep for five seconds at the end of a shuffled dataset, however small it is, unless told otherwise: they are.
"""

from __future__ import annotations

import warnings

from matrix import BATCH, BUFFER, FEATURES, LABEL, SEED, MatrixLoop, stacked

from datasets import config, load_dataset


def main() -> None:
    warnings.simplefilter("ignore")  # its way to torch warns of itself at every column
    config.SLEEP_TIME_ON_THREADS_SHUTDOWN = 0
    loop = MatrixLoop.from_args()
    rows = load_dataset("parquet", data_files=loop.files(), split="train", streaming=True, columns=[*FEATURES, LABEL])
    rows = rows.with_format("torch")
    if loop.shuffled:
        rows = rows.shuffle(seed=SEED, buffer_size=BUFFER)
    for batch in rows.batch(BATCH) if "batch" in loop.arguments else rows.iter(BATCH):
        loop.add(*stacked(batch))
    loop.tell(loop.cost())


main()
