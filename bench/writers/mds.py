"""MDS shards by MDSWriter of mosaicml-streaming."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from streaming import MDSWriter

from datasets import Spec

ENCODINGS = {pa.int64(): "int", pa.float32(): "float32", pa.string(): "str", pa.binary(): "bytes"}


def write(_: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    first = next(tables)
    columns = {field.name: ENCODINGS[field.type] for field in first.schema}
    with MDSWriter(out=str(folder), columns=columns) as out:
        for table in (first, *tables):
            for row in table.to_pylist():
                out.write(row)
