"""mosaicml-streaming: a local StreamingDataset of MDS shards with x and y in every sample, collated by torch's DataLoader.

Its shared memory has names that the whole machine sees: it leaves in good order, so that it removes its own, and nobody else's is touched.
"""

from __future__ import annotations

import tempfile

from matrix import BATCH, SEED, MatrixLoop
from streaming import StreamingDataset
from torch.utils.data import DataLoader


def main() -> None:
    with tempfile.TemporaryDirectory() as locks:
        tempfile.tempdir = locks  # where the dataset puts its lock files, which it never removes
        loop = MatrixLoop.from_args()
        rows = StreamingDataset(local=loop.path, shuffle=loop.shuffled, shuffle_seed=SEED, batch_size=BATCH)
        for batch in DataLoader(rows, batch_size=BATCH, num_workers=int(loop.arguments[0])):
            loop.add(batch["x"], batch["y"])
        loop.tell(loop.cost())


main()
