"""Parquet in many files of one row group each, with pyarrow's defaults but for the codec."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from datasets import Spec
from writers import part
from writers.parts import write_file


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    for number, table in enumerate(tables):
        write_file(part(folder, spec.form, number), [table], spec.codec)
