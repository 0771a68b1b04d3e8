"""mosaicml-streaming: a local StreamingDataset, sample by sample in one process.

It has to be told a batch size, which sets how far it looks ahead. Texts are ASCII: their length is that of their bytes.
"""

from __future__ import annotations

from streaming import StreamingDataset
from streaming.base.util import clean_stale_shared_memory

from peers.job import Job


def main(batch_size: int) -> None:
    clean_stale_shared_memory()  # of a run that was killed
    job = Job.from_args()
    rows = ints = text = 0
    floats = 0.0
    for sample in StreamingDataset(local=job.path, shuffle=False, batch_size=batch_size):
        rows += 1
        ints += sample["id"]
        if job.kind == "blobs":
            text += len(sample["data"])
        else:
            text += len(sample["text"])
            floats += float(sample["x"])
    clean_stale_shared_memory()
    job.done(rows, ints, floats, text)


if __name__ == "__main__":
    main(1)
