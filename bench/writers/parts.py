"""Parquet in several files of a few row groups each, with pyarrow's defaults but for codec and row group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from datasets import Spec
from writers import part

GROUPS = 4  # row groups in a file


def write_file(path: Path, tables: Iterable[pa.Table], codec: str) -> None:
    """One file, a row group a table."""
    writer: pq.ParquetWriter | None = None
    for table in tables:
        writer = writer or pq.ParquetWriter(path, table.schema, compression=codec)
        writer.write_table(table, row_group_size=table.num_rows)
    assert writer is not None
    writer.close()


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    for number, first in enumerate(tables):
        write_file(part(folder, spec.form, number), chain([first], islice(tables, GROUPS - 1)), spec.codec)
