"""Names that other code has for the same work, so that scripts change one import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._options import Names, Paths, Size
from ._scan import scan

if TYPE_CHECKING:
    import pandas as pd

_RECOGNISED = ("json", "hf_dataset", "feather")  # types of theirs that are no formats here: what the files are is seen


def streaming_dataset_reader(
    file_path: Paths,
    dataset_type: str = "",
    batch_size: int = 1000,
    num_threads: int = 0,
    columns: Names | None = None,
    *,
    memory: Size | None = None,
) -> Iterator[dict[str, list[Any]]]:
    """Batches as dicts of lists of Python values; nested values are lists and dicts. As in fast-axolotl, of any format that weir reads.

    >>> import weir, pyarrow.parquet, pyarrow as pa
    >>> pyarrow.parquet.write_table(pa.table({"text": ["a", "b"], "turns": [[{"role": "user"}], []]}), "chat.parquet")
    >>> list(weir.streaming_dataset_reader("chat.parquet", dataset_type="parquet", memory="128MiB"))
    [{'text': ['a', 'b'], 'turns': [[{'role': 'user'}], []]}]
    """
    if not file_path:
        raise ValueError("file_path is empty")
    kind = "" if dataset_type in _RECOGNISED else dataset_type
    with scan(file_path, columns=columns, batch_size=batch_size, threads=num_threads, memory=memory, format=kind) as batches:
        for batch in batches:
            yield {name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)}


def scan_parquet_dataset(
    bucket: str, prefix: str, columns: Names | None = None, batch_size: int = 50_000, *, memory: Size | None = None, threads: int = 0
) -> Iterator[pa.RecordBatch]:
    """The Parquet files of a bucket below a prefix, in the order of their names, as Arrow batches. An empty bucket is the local disk."""
    path = f"s3://{bucket}/{prefix}" if bucket else prefix
    with scan(path, columns=columns, batch_size=batch_size, memory=memory, threads=threads, format="parquet") as batches:
        yield from batches


def scan_parquet_as_pandas(
    bucket: str, prefix: str, columns: Names | None = None, batch_size: int = 50_000, *, memory: Size | None = None, threads: int = 0
) -> Iterator[pd.DataFrame]:
    """The same as pandas data frames."""
    for batch in scan_parquet_dataset(bucket, prefix, columns, batch_size, memory=memory, threads=threads):
        yield batch.to_pandas()
