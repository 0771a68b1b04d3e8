"""mosaicml-streaming: a local StreamingDataset, sample by sample in one process.

It has to be told a batch size, which sets how far it looks ahead. Texts are ASCII: their length is that of their bytes.
Its shared memory has names that the whole machine sees: it leaves in good order, so that it removes its own, and nobody else's is touched.
"""

from __future__ import annotations

import tempfile

from streaming import StreamingDataset

from peers.job import Job


def scan(job: Job, batch_size: int) -> None:
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
    job.tell(rows, ints, floats, text)


def main(batch_size: int) -> None:
    with tempfile.TemporaryDirectory() as locks:
        tempfile.tempdir = locks  # where the dataset puts its lock files, which it never removes
        scan(Job.from_args(), batch_size)


if __name__ == "__main__":
    main(1)
