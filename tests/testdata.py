"""The larger test datasets, made once into the cache. Whoever changes how one is made raises VERSION."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import rows
import streams
from environment import cache

VERSION = 1
GROUP = 131_072  # rows of a usual row group
VALUE = 100_000_000  # bytes of the single large value


def write(path: Path, groups: Iterable[pa.Table], codec: str) -> None:
    """Each table becomes one row group, with pyarrow's defaults otherwise."""
    writer: pq.ParquetWriter | None = None
    for table in groups:
        writer = writer or pq.ParquetWriter(path, table.schema, compression=codec)
        writer.write_table(table, row_group_size=table.num_rows)
    assert writer is not None
    writer.close()


def in_duckdb(path: Path, table: pa.Table, codec: str) -> None:
    """One row group as DuckDB writes it: a column is one page, or for text a few of up to 93 MB."""
    with duckdb.connect() as db:
        db.execute("SET threads = 1")
        db.execute("SET preserve_insertion_order = true")
        db.register("source", table)
        size = max(table.num_rows, 122_880)
        db.execute(f"COPY (SELECT * FROM source) TO '{path}' (FORMAT parquet, COMPRESSION {codec}, ROW_GROUP_SIZE {size})")


def in_large_pages(path: Path, table: pa.Table, codec: str, level: int) -> None:
    """One row group whose text is pages of about 93 MB; DuckDB's brotli takes minutes for them."""
    writing = {"compression": codec, "compression_level": level, "use_dictionary": False, "data_page_size": 93_000_000}
    pq.write_table(table, path, row_group_size=table.num_rows, **writing)


def joined(make: Callable[[int, int], pa.Table], count: int, step: int) -> pa.Table:
    return pa.concat_tables([make(start, min(step, count - start)) for start in range(0, count, step)]).combine_chunks()


CODECS = ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw"]

MAKERS: dict[str, Callable[[Path], None]] = {
    "numeric": lambda p: write(p, (rows.numeric(i * GROUP, GROUP) for i in range(3)), "snappy"),
    "nulls": lambda p: write(p, (rows.numeric(i * GROUP, GROUP, 0.05) for i in range(3)), "snappy"),
    "text": lambda p: write(p, (rows.text(i * 20_000, 20_000) for i in range(3)), "zstd"),
    "mixed": lambda p: write(p, (rows.mixed(i * 50_000, 50_000) for i in range(8)), "snappy"),
    "chat": lambda p: write(p, (rows.chat(i * 16_000, 16_000) for i in range(3)), "snappy"),
    "numeric-one": lambda p: write(p, [joined(rows.numeric, 1_100_000, GROUP)], "snappy"),
    "text-one": lambda p: write(p, [joined(rows.text, 340_000, 20_000)], "zstd"),
    "wide-small-groups": lambda p: write(p, [rows.wide(10_000, 2_000)] * 3, "snappy"),
    "wide-large-groups": lambda p: write(p, [rows.wide(10_000, GROUP)], "snappy"),
    "value-alone": lambda p: write(p, [rows.large_value(VALUE, 0)], "zstd"),
    "value-among-small": lambda p: write(p, [rows.large_value(VALUE, 1_000)], "zstd"),
    "large-pages-brotli": lambda p: in_large_pages(p, joined(rows.text, 80_000, 20_000), "brotli", 4),
    "duckdb-numeric": lambda p: in_duckdb(p, rows.numeric(0, 2_000_000, floats=3), "snappy"),
} | {f"duckdb-text-{codec}": lambda p, codec=codec: in_duckdb(p, joined(rows.text, 80_000, 20_000), codec) for codec in CODECS}
MAKERS |= streams.MAKERS


def dataset(name: str) -> Path:
    """The file of a dataset, made where it is missing; a broken run leaves nothing half made. Without an ending it is Parquet."""
    folder = cache() / "testdata"
    current = folder / f"v{VERSION}"
    path = current / (name if "." in name else f"{name}.parquet")
    if path.exists():
        return path
    if folder.exists():
        for stale in folder.iterdir():
            if stale != current:
                shutil.rmtree(stale)
    current.mkdir(parents=True, exist_ok=True)
    partial = current / f".{name}.{os.getpid()}.partial"
    try:
        MAKERS[name](partial)
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def rows_of(path: Path) -> int:
    """The number of rows as pyarrow knows it."""
    return int(pq.read_metadata(path).num_rows)
