"""CSV by pyarrow: a header, and for every double the fewest digits that give the same double again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from datasets import Spec
from writers import part


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    writer: csv.CSVWriter | None = None
    options = csv.WriteOptions(quoting_header="none")
    for table in tables:
        writer = writer or csv.CSVWriter(part(folder, spec.form), table.schema, write_options=options)
        writer.write_table(table)
    assert writer is not None
    writer.close()
