"""Parquet as DuckDB writes it with large row groups: a chunk of text is a few pages of tens of megabytes."""

from __future__ import annotations

from pathlib import Path

import duckdb

from datasets import Spec
from writers import part


def derive(spec: Spec, source: Path, folder: Path) -> None:
    with duckdb.connect() as db:
        db.execute("SET preserve_insertion_order = true")
        db.execute("SET threads = 1")
        db.execute(
            f"COPY (SELECT * FROM read_parquet('{source}/*.parquet')) TO '{part(folder, 'parquet')}' "
            f"(FORMAT parquet, COMPRESSION {spec.codec}, ROW_GROUP_SIZE {max(spec.rows, 122_880)})"
        )
