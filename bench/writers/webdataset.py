"""WebDataset shards by TarWriter of webdataset, a shard a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import webdataset

from datasets import Spec
from writers import part


def write(_: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    for number, table in enumerate(tables):
        with webdataset.TarWriter(str(part(folder, "tar", number)), encoder=False, mtime=0) as out:
            for row in table.to_pylist():
                out.write(row)
