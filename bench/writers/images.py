"""A folder of image files, in a folder a class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from datasets import Spec


def write(_: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    for table in tables:
        for row in table.to_pylist():
            path = folder / row["path"]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(row["image"])
