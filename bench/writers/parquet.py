"""Parquet: one file with pyarrow's defaults but for codec and row group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from datasets import Spec
from writers import part


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    held: list[pa.Table] = []
    writer: pq.ParquetWriter | None = None
    for table in tables:
        writer = writer or pq.ParquetWriter(part(folder, "parquet"), table.schema, compression=spec.codec)
        if spec.group:
            writer.write_table(table, row_group_size=spec.group)
        else:
            held.append(table)
    assert writer is not None
    if held:
        writer.write_table(pa.concat_tables(held), row_group_size=spec.rows)
    writer.close()
