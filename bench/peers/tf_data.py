"""tf.data on the CPU: TFRecord files parsed in batches, and image files read with their width and height."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from peers.job import Job

BATCH = 1024
FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
    "x": tf.io.FixedLenFeature([8], tf.float32),
    "blob": tf.io.FixedLenFeature([], tf.string, default_value=b""),
}
ZERO = (np.int32(0), np.int64(0), np.float64(0), np.int64(0))  # rows, integers, floats, bytes


def total(rows: tf.data.Dataset) -> list[float]:
    """All sums, added up."""
    found = rows.reduce(ZERO, lambda old, new: tuple(a + b for a, b in zip(old, new, strict=True)))
    return [each.numpy().item() for each in found]


def lengths(values: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.cast(tf.strings.length(values), tf.int64))


def mapped(job: Job, rows: tf.data.Dataset, work: Callable[[tf.Tensor], tuple[tf.Tensor, ...]]) -> tf.data.Dataset:
    """Every element worked on, in order, by as many threads as the job has."""
    return rows.map(work, num_parallel_calls=job.threads if job.threads > 1 else None)


def examples(job: Job) -> tf.data.Dataset:
    """The sums of each batch."""

    def sums(records: tf.Tensor) -> tuple[tf.Tensor, ...]:
        found = tf.io.parse_example(records, FEATURES)
        floats = tf.reduce_sum(tf.cast(found["x"], tf.float64))
        return tf.size(records), tf.reduce_sum(found["id"] + found["label"]), floats, lengths(found["name"]) + lengths(found["blob"])

    return mapped(job, tf.data.TFRecordDataset(job.files()).batch(BATCH), sums)


def images(job: Job) -> tf.data.Dataset:
    """One row of each file: its width and height, and the bytes of its path below the dataset and its contents."""
    skip = len(job.path) + 1

    def read(path: tf.Tensor) -> tuple[tf.Tensor, ...]:
        data = tf.io.read_file(path)
        sides = tf.image.extract_jpeg_shape(data)[:2]
        return tf.constant(1), tf.cast(tf.reduce_sum(sides), tf.int64), tf.constant(0.0, tf.float64), lengths([path, data]) - skip

    return mapped(job, tf.data.Dataset.from_tensor_slices(job.files()), read)


def main() -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    total(tf.data.Dataset.from_tensors(ZERO))  # starts the runtime, as a connection is open before DuckDB's clock runs
    job = Job.from_args()
    rows = {"examples": examples, "images": images}[job.kind](job)
    options = tf.data.Options()
    options.threading.private_threadpool_size = job.threads
    job.done(*total(rows.with_options(options)))


main()
