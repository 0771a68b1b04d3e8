"""JSON lines as Python's json module writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from datasets import Spec
from writers import part


def write(spec: Spec, tables: Iterator[pa.Table], folder: Path) -> None:
    with part(folder, spec.form).open("w", encoding="utf-8", newline="\n") as out:
        for table in tables:
            for batch in table.to_batches(1024):
                out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
