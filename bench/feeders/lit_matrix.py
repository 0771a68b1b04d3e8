"""LitData: a StreamingDataset of its own chunks with x and y in every sample, from its own loader."""

from __future__ import annotations

import tempfile

from litdata import StreamingDataLoader, StreamingDataset
from matrix import BATCH, SEED, MatrixLoop


def main() -> None:
    loop = MatrixLoop.from_args()
    with tempfile.TemporaryDirectory() as cache:
        rows = StreamingDataset(loop.path, cache_dir=cache, shuffle=loop.shuffled, seed=SEED, drop_last=False)
        for batch in StreamingDataLoader(rows, batch_size=BATCH, num_workers=int(loop.arguments[0])):
            loop.add(batch["x"], batch["y"])
        loop.tell(loop.cost())


main()
