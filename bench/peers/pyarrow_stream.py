"""pyarrow: the streaming readers of JSON lines, CSV and Arrow IPC files, file after file, every value touched.

Block sizes are the defaults.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyarrow import csv, ipc, json

from peers.job import Job
from touch import Sums


def batches(path: str, form: str, threads: int) -> Iterable[pa.RecordBatch]:
    """The batches of one file; what its name says about compression is undone on the way."""
    if form == "arrow":
        reader = ipc.open_file(path, options=ipc.IpcReadOptions(use_threads=threads > 1))
        return map(reader.get_batch, range(reader.num_record_batches))
    stream = pa.input_stream(path)
    if form == "csv":
        return csv.open_csv(stream, read_options=csv.ReadOptions(use_threads=threads > 1))
    return json.open_json(stream, read_options=json.ReadOptions(use_threads=threads > 1))


def main() -> None:
    job = Job.from_args()
    pa.set_cpu_count(job.threads)
    sums = Sums()
    for path in job.files():
        for batch in batches(path, job.form, job.threads):
            sums.add(batch)
    job.done(sums.rows, sums.ints, sums.floats, sums.text_bytes)


main()
