"""pyarrow: Arrow IPC files mapped into memory, every value touched where it lies in the page cache."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import ipc

from peers.job import Job
from touch import Sums


def main() -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    sums = Sums()
    for path in job.files():
        with ipc.open_file(pa.memory_map(path), options=ipc.IpcReadOptions(use_threads=job.threads > 1)) as reader:
            for number in range(reader.num_record_batches):
                sums.add(reader.get_batch(number))
    job.done(sums.rows, sums.ints, sums.floats, sums.text_bytes)


main()
